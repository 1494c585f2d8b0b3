import { timingSafeEqual } from "node:crypto";
import { parseToken } from "@relay/protocol";
import { MinuteWindows } from "../core/rate.ts";
import { hashToken } from "../ids.ts";
import type { FoundKey, Project } from "../store/store.ts";
import { ApiError, rateLimited } from "./errors.ts";
import type { ApiContext, ApiDeps } from "./routes.ts";

const PROJECTS_MAX = 100_000;

/** Who may do what over REST: keys of projects, and the operator's token. */
export class Auth {
  readonly #deps: ApiDeps;
  readonly #requests = new MinuteWindows(PROJECTS_MAX);

  constructor(deps: ApiDeps) {
    this.#deps = deps;
  }

  /** The project of a publishable or secret key, as link creation takes them. */
  async anyKey(context: ApiContext): Promise<FoundKey> {
    const text = bearer(context);
    const token = parseToken("publishableKey", text) ?? parseToken("secretKey", text);
    const found = token === null ? null : await this.#find(token);
    if (found === null) throw new ApiError("UNAUTHORIZED", "Missing or invalid publishable key");
    return found;
  }

  /** The project of a secret key; counts one request of it. */
  async secretKey(context: ApiContext): Promise<Project> {
    const token = parseToken("secretKey", bearer(context));
    const found = token === null ? null : await this.#find(token);
    if (found === null) throw new ApiError("UNAUTHORIZED", "Missing or invalid secret key");
    const { clock, limits } = this.#deps;
    const wait = this.#requests.take(
      found.project.projectId,
      clock.monotonic(),
      limits.restRequestsPerMinute,
    );
    if (wait > 0) throw rateLimited(wait);
    return found.project;
  }

  /** Passes the operator alone. */
  operator(context: ApiContext): void {
    const token = parseToken("operatorToken", bearer(context));
    if (token === null || !timingSafeEqual(hashToken(token), this.#deps.operatorTokenHash)) {
      throw new ApiError("UNAUTHORIZED", "Missing or invalid operator token");
    }
  }

  async #find(token: string): Promise<FoundKey | null> {
    const now = this.#deps.clock.wall();
    const found = await this.#deps.store.findKey(hashToken(token), now);
    if (found !== null) this.#deps.store.noteKeyUsed(found.keyId, now);
    return found;
  }
}

function bearer(context: ApiContext): string {
  const header = context.req.header("authorization") ?? "";
  return /^bearer /i.test(header) ? header.slice("bearer ".length).trim() : "";
}
