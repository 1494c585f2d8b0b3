import { isUuid } from "@relay/protocol";
import type { AccountId, ProjectId } from "@relay/protocol";
import type { Sessions, Visitor } from "../accounts/port.ts";
import { NEEDS_FRESH, may } from "../accounts/roles.ts";
import type { Need } from "../accounts/roles.ts";
import type { Clock } from "../clock.ts";
import { MinuteWindows } from "../core/rate.ts";
import type { Project, Store } from "../store/store.ts";
import { ApiError, notFound, rateLimited } from "./errors.ts";
import type { ApiContext } from "./routes.ts";

const USERS_MAX = 100_000;
/** Requests of one user in a minute, over all their sessions. */
const REQUESTS_PER_MINUTE = 1_200;

export type SessionAuthDeps = {
  readonly sessions: Sessions;
  readonly store: Pick<Store, "getProject">;
  readonly clock: Clock;
};

/**
 * Who may do what under `/api`, by session. Whatever belongs to an account the visitor is not in
 * answers 404, as if it were not there; 403 tells a member that the role is not enough.
 */
export class SessionAuth {
  readonly #deps: SessionAuthDeps;
  readonly #requests = new MinuteWindows(USERS_MAX);

  constructor(deps: SessionAuthDeps) {
    this.#deps = deps;
  }

  /** The signed-in visitor, whose request is counted once; else 401 or 429. */
  async visitor(context: ApiContext): Promise<Visitor> {
    const known = context.get("visitor");
    if (known !== undefined) return known;
    const { sessions, clock } = this.#deps;
    const visitor = await sessions.whoIs(context.var.exchange.request.headers);
    if (visitor === null) throw new ApiError("UNAUTHORIZED", "Sign in first");
    const wait = this.#requests.take(visitor.userId, clock.monotonic(), REQUESTS_PER_MINUTE);
    if (wait > 0) throw rateLimited(wait);
    context.set("visitor", visitor);
    return visitor;
  }

  /** The project of the path's `{projectId}`, if the visitor's role allows what is needed. */
  async projectOf(context: ApiContext, need: Need): Promise<Project> {
    const visitor = await this.visitor(context);
    const projectId = context.req.param("projectId") ?? "";
    // Checked right here.
    const project = isUuid(projectId)
      ? await this.#deps.store.getProject(projectId as ProjectId)
      : null;
    const role =
      project === null ? null : await this.#deps.sessions.roleIn(visitor.userId, project.accountId);
    if (project === null || role === null) throw notFound("project");
    context.set("accountId", project.accountId);
    context.set("projectId", project.projectId);
    allow(visitor, role, need);
    return project;
  }

  /** The account of the path's `{accountId}`, if the visitor's role allows what is needed. */
  async accountOf(context: ApiContext, need: Need): Promise<AccountId> {
    return this.accountById(context, context.req.param("accountId") ?? "", need);
  }

  /** The account of this id, if the visitor's role allows what is needed. */
  async accountById(context: ApiContext, text: string, need: Need): Promise<AccountId> {
    const visitor = await this.visitor(context);
    // Checked right here.
    const accountId = isUuid(text) ? (text as AccountId) : null;
    const role =
      accountId === null ? null : await this.#deps.sessions.roleIn(visitor.userId, accountId);
    if (accountId === null || role === null) throw notFound("account");
    context.set("accountId", accountId);
    allow(visitor, role, need);
    return accountId;
  }

  /** Passes operators alone; for others the operator's addresses are not there. */
  async operator(context: ApiContext): Promise<Visitor> {
    const visitor = await this.visitor(context);
    if (!visitor.isOperator) throw new ApiError("NOT_FOUND", "No such address");
    return visitor;
  }

  /** Passes a visitor who has typed the password in the last 15 minutes. */
  async fresh(context: ApiContext): Promise<Visitor> {
    const visitor = await this.visitor(context);
    if (!visitor.isFresh) throw staleSession();
    return visitor;
  }
}

function allow(visitor: Visitor, role: Parameters<typeof may>[0], need: Need): void {
  if (!may(role, need)) {
    throw new ApiError("FORBIDDEN", `Your role in this account, ${role}, does not allow this`);
  }
  if (NEEDS_FRESH.has(need) && !visitor.isFresh) throw staleSession();
}

/** The answer to what wants the password again. */
export function staleSession(): ApiError {
  return new ApiError("REAUTHENTICATION_NEEDED", "Type your password again to do this");
}
