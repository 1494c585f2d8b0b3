import type { UserId } from "@relay/protocol";
import type { Clock } from "../clock.ts";
import { mintAuditId } from "../ids.ts";
import type { Log } from "../observe/log.ts";
import type { AccountStore, AuditEntry } from "../store/account-store.ts";
import { withoutSecrets } from "./audit-secrets.ts";
import type { Api, ApiContext } from "./routes.ts";

/** What a handler knows better than the request: what it did, to what, and what was there before. */
export type AuditedChange = {
  /** In place of the operation's summary. */
  readonly action?: string;
  /** In place of the visitor. */
  readonly actor?: { readonly userId: UserId | null; readonly email: string };
  /** In place of the last id of the path. */
  readonly target?: string;
  readonly before?: unknown;
  /** In place of the body. */
  readonly after?: unknown;
};

/** Tells the audit log what a request changed. Secrets may be in it: they are taken out. */
export function noteChange(context: ApiContext, change: AuditedChange): void {
  context.set("change", { ...context.get("change"), ...change });
}

export type AuditDeps = {
  readonly accounts: Pick<AccountStore, "recordAudit">;
  readonly clock: Clock;
  readonly log: Log;
};

const CHANGES = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/**
 * Writes a line of the audit log for every request under `/api` that changed something, from its
 * operation's summary, its path and its body. The line is written before the answer leaves. A store
 * that refuses it does not undo what was done: the line then goes to the server's log, as an error.
 */
export function addAudit(api: Api, { accounts, clock, log }: AuditDeps): void {
  api.use("/api/*", async (context, next) => {
    await next();
    if (context.res.status >= 400) return;
    const { operation, change } = context.var;
    const isChange = CHANGES.has(context.req.method) && operation?.reads !== true;
    const usual = isChange ? operation?.summary : undefined;
    const action = change?.action ?? usual;
    if (action === undefined) return;
    const entry = entryOf(context, action, clock.wall());
    try {
      await accounts.recordAudit(entry);
    } catch (error) {
      log.error({ err: error, entry }, "a line of the audit log could not be written");
    }
  });
}

function entryOf(context: ApiContext, action: string, at: number): AuditEntry {
  const { exchange, visitor, accountId, projectId, input, change = {} } = context.var;
  const { requestId, ip } = exchange;
  const after = "after" in change ? change.after : input;
  return {
    auditId: mintAuditId(at),
    at,
    accountId: accountId ?? null,
    projectId: projectId ?? null,
    userId: change.actor === undefined ? (visitor?.userId ?? null) : change.actor.userId,
    actor: change.actor?.email ?? visitor?.email ?? "nobody",
    action,
    target: change.target ?? targetOf(context),
    before: withoutSecrets(change.before),
    after: withoutSecrets(after),
    address: ip,
    requestId,
  };
}

/** The last id in the path, which is what the operation is about. */
function targetOf(context: ApiContext): string | null {
  const names = Object.entries(context.req.param()).filter(([name]) => name.endsWith("Id"));
  return names.at(-1)?.[1] ?? null;
}
