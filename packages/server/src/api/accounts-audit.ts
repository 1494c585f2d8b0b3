import { z } from "@hono/zod-openapi";
import type { AuditEntry } from "../store/account-store.ts";
import type { Auth } from "./auth.ts";
import { json, pageOf, readQuery, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import type { SessionAuth } from "./session-auth.ts";
import { PageQuery, Time, isoTime, pageShape } from "./shapes.ts";

const EntryShape = z
  .object({
    id: z.string(),
    at: Time,
    accountId: z.string().nullable(),
    projectId: z.string().nullable(),
    userId: z.string().nullable(),
    actor: z.string(),
    action: z.string(),
    target: z.string().nullable(),
    before: z.unknown(),
    after: z.unknown(),
    address: z.string(),
    requestId: z.string(),
  })
  .openapi("AuditEntry");

/** The audit log: an account's own for its owners and admins, all of it for the operator. */
export function addAuditLists(
  api: Api,
  { store }: Pick<ApiDeps, "store">,
  auth: Auth,
  sessions: SessionAuth,
): void {
  route(
    api,
    {
      method: "get",
      path: "/api/accounts/{accountId}/audit",
      summary: "Lists what was done in the account, the newest first",
      by: "visitor",
      query: PageQuery,
      answer: pageShape(EntryShape),
    },
    async (context) => {
      const accountId = await sessions.accountOf(context, "oversee");
      const { limit, cursor } = readQuery(context, PageQuery);
      const wanted = { limit, cursor: cursor ?? null };
      const page = pageOf(await store.accounts.listAudit(accountId, wanted));
      return json(context, 200, { ...page, items: page.items.map(entryView) });
    },
  );
  route(
    api,
    {
      method: "get",
      path: "/v1/operator/audit",
      summary: "Lists what was done in the dashboard, the newest first",
      by: "operator",
      query: PageQuery,
      answer: pageShape(EntryShape),
    },
    async (context) => {
      await auth.operator(context);
      const { limit, cursor } = readQuery(context, PageQuery);
      const wanted = { limit, cursor: cursor ?? null };
      const page = pageOf(await store.accounts.listAudit(null, wanted));
      return json(context, 200, { ...page, items: page.items.map(entryView) });
    },
  );
}

function entryView(entry: AuditEntry): z.output<typeof EntryShape> {
  const { auditId: id, at, before, after, ...rest } = entry;
  return {
    id,
    at: isoTime(at),
    ...rest,
    before: before === null ? null : JSON.parse(before),
    after: after === null ? null : JSON.parse(after),
  };
}
