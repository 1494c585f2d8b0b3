import { z } from "@hono/zod-openapi";
import { OUTCOME_NAMES } from "@relay/protocol";
import type { Outcome } from "@relay/protocol";
import { mintAccountId } from "../ids.ts";
import type { Account } from "../store/store.ts";
import type { Auth } from "./auth.ts";
import { accountOfPath } from "./money.ts";
import { OwnerShape, ownersOf } from "./operator-owners.ts";
import { json, pageOf, readQuery, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import { PageQuery, isoTime, pageShape } from "./shapes.ts";

const ACCOUNTS = "/v1/operator/accounts";

const AccountShape = z
  .object({
    accountId: z.string(),
    name: z.string().openapi({
      description: "As its members named it; empty for one that was made without a person.",
    }),
    owner: OwnerShape,
    isOperator: z.boolean(),
    projects: z.int(),
    balanceMicros: z.int(),
    createdAt: z.string(),
  })
  .openapi("Account");

const StatsShape = z
  .object({
    accounts: z.int(),
    projects: z.int(),
    links: z.int(),
    connected: z.int(),
    callsInFlight: z.int(),
    unwrittenRows: z.int(),
    month: z.string(),
    counted: z.int(),
    total: z.int(),
    byOutcome: z.partialRecord(z.enum(OUTCOME_NAMES as [Outcome, ...Outcome[]]), z.int()),
  })
  .openapi("Stats");

/** The operator's own API: accounts, and what there is in all (SPEC 9). */
export function addAccountRoutes(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "post",
      path: ACCOUNTS,
      summary: "Makes a developer's account",
      by: "operator",
      status: 201,
      answer: AccountShape,
    },
    async (context) => {
      await auth.operator(context);
      const createdAt = deps.clock.wall();
      const accountId = mintAccountId(createdAt);
      await deps.store.createAccount(accountId, createdAt);
      const made = { accountId, name: "", ownerId: null, isOperator: false };
      const account = { ...made, projects: 0, balanceMicros: 0, createdAt };
      return json(context, 201, await accountView(deps, account));
    },
  );
  route(
    api,
    {
      method: "get",
      path: ACCOUNTS,
      summary: "Lists accounts, the newest first",
      by: "operator",
      query: PageQuery,
      answer: pageShape(AccountShape),
    },
    async (context) => {
      await auth.operator(context);
      const { limit, cursor } = readQuery(context, PageQuery);
      const page = pageOf(await deps.store.listAccounts({ limit, cursor: cursor ?? null }));
      const ownerOf = await ownersOf(deps, page.items);
      const items = page.items.map((account) => viewOf(account, ownerOf(account)));
      return json(context, 200, { items, nextCursor: page.nextCursor });
    },
  );
  route(
    api,
    {
      method: "get",
      path: `${ACCOUNTS}/{accountId}`,
      summary: "Shows an account with its balance",
      by: "operator",
      answer: AccountShape,
    },
    async (context) => {
      await auth.operator(context);
      return json(context, 200, await accountView(deps, await accountOfPath(context, deps)));
    },
  );
  route(
    api,
    {
      method: "get",
      path: "/v1/operator/stats",
      summary: "Shows what there is in all, and this month's calls",
      by: "operator",
      answer: StatsShape,
    },
    async (context) => {
      await auth.operator(context);
      const month = new Date(deps.clock.wall()).toISOString().slice(0, 7);
      const stats = await deps.store.stats(month);
      const { inFlight, settler } = deps.node;
      const now = { callsInFlight: inFlight, unwrittenRows: settler.unwritten };
      return json(context, 200, { ...stats, ...now } satisfies z.output<typeof StatsShape>);
    },
  );
}

type AccountView = z.output<typeof AccountShape>;

async function accountView(deps: ApiDeps, account: Account): Promise<AccountView> {
  return viewOf(account, (await ownersOf(deps, [account]))(account));
}

function viewOf(account: Account, owner: AccountView["owner"]): AccountView {
  return {
    accountId: account.accountId,
    name: account.name,
    owner,
    isOperator: account.isOperator,
    projects: account.projects,
    balanceMicros: account.balanceMicros,
    createdAt: isoTime(account.createdAt),
  };
}
