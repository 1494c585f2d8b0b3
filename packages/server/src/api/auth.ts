import { timingSafeEqual } from "node:crypto";
import { parseToken } from "@relay/protocol";
import { NEEDS_FRESH } from "../accounts/roles.ts";
import type { Need } from "../accounts/roles.ts";
import { MinuteWindows } from "../core/rate.ts";
import { hashToken } from "../ids.ts";
import type { FoundKey, Project } from "../store/store.ts";
import { ApiError, rateLimited } from "./errors.ts";
import { needOf } from "./routes.ts";
import type { ApiContext, ApiDeps, Operation } from "./routes.ts";
import type { SessionAuth } from "./session-auth.ts";

const PROJECTS_MAX = 100_000;

/** Who may do what over REST: keys and the operator's token under `/v1`, sessions under `/api`. */
export class Auth {
  readonly #deps: ApiDeps;
  readonly #sessions: SessionAuth;
  readonly #requests = new MinuteWindows(PROJECTS_MAX);

  constructor(deps: ApiDeps, sessions: SessionAuth) {
    this.#deps = deps;
    this.#sessions = sessions;
  }

  /** The project of a publishable or secret key, as link creation takes them. */
  async anyKey(context: ApiContext): Promise<FoundKey> {
    const text = bearer(context);
    const token = parseToken("publishableKey", text) ?? parseToken("secretKey", text);
    const found = token === null ? null : await this.#find(token);
    if (found === null) throw new ApiError("UNAUTHORIZED", "Missing or invalid publishable key");
    return found;
  }

  /**
   * The project that the request is about: its secret key's, or the one that its path names if its
   * session may do what the operation needs. Counts one request.
   */
  async developer(context: ApiContext): Promise<Project> {
    const operation = sessionOperation(context);
    if (operation !== null) return this.#sessions.projectOf(context, needOf(operation));
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

  /** Passes whoever may do this to the request's project, too; a secret key may do everything. */
  async also(context: ApiContext, need: Need): Promise<void> {
    if (sessionOperation(context) !== null) await this.#sessions.projectOf(context, need);
  }

  /** Passes the operator alone, by token or by session. */
  async operator(context: ApiContext): Promise<void> {
    const operation = sessionOperation(context);
    if (operation !== null) {
      await this.#sessions.operator(context);
      if (NEEDS_FRESH.has(needOf(operation))) await this.#sessions.fresh(context);
      return;
    }
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

/** The operation that a request under `/api` runs; null under `/v1`, where no cookie counts. */
function sessionOperation(context: ApiContext): Operation | null {
  const { operation } = context.var;
  return operation?.path.startsWith("/api/") === true ? operation : null;
}

function bearer(context: ApiContext): string {
  const header = context.req.header("authorization") ?? "";
  return /^bearer /i.test(header) ? header.slice("bearer ".length).trim() : "";
}
