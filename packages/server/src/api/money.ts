import { z } from "@hono/zod-openapi";
import { isUuid } from "@relay/protocol";
import type { AccountId } from "@relay/protocol";
import { MONEY_MICROS_MAX } from "../core/ledger.ts";
import { USAGE_KEY } from "../store/money.ts";
import type { BookedCredit, LedgerEntry, NewCredit } from "../store/money.ts";
import type { Account } from "../store/store.ts";
import type { Auth } from "./auth.ts";
import { ApiError, notFound } from "./errors.ts";
import { json, pageOf, readInput, readQuery, route } from "./routes.ts";
import type { Api, ApiContext, ApiDeps } from "./routes.ts";
import { PageQuery, Time, isoTime, pageShape, textOf } from "./shapes.ts";

const ACCOUNT = "/v1/operator/accounts/{accountId}";
const SOURCE_KEY_CHARS_MAX = 200;
const NOTE_CHARS_MAX = 500;
const KINDS = [
  "purchase",
  "grant",
  "refund",
  "dispute",
  "adjustment",
] as const satisfies readonly NewCredit["kind"][];

const AMOUNT = `must be a whole number of millionths other than 0, at most ${MONEY_MICROS_MAX} either way`;

const CreditInput = z
  .object({
    amountMicros: z
      .int({ error: AMOUNT })
      .min(-MONEY_MICROS_MAX, AMOUNT)
      .max(MONEY_MICROS_MAX, AMOUNT)
      .refine((amount) => amount !== 0, AMOUNT),
    sourceKey: textOf(SOURCE_KEY_CHARS_MAX).refine(
      (key) => !key.startsWith(USAGE_KEY),
      `must not begin with ${USAGE_KEY}`,
    ),
    note: z.union([z.literal(""), textOf(NOTE_CHARS_MAX)]).default(""),
    kind: z.enum(KINDS, { error: `must be one of ${KINDS.join(", ")}` }).optional(),
  })
  .openapi("Credit");

const LedgerEntryShape = z
  .object({
    id: z.string(),
    at: Time,
    kind: z.enum([...KINDS, "usage"]),
    amountMicros: z.int().openapi({ description: "Positive is to the account's good." }),
    projectId: z.string().nullable(),
    note: z.string(),
    sourceKey: z.string(),
  })
  .openapi("LedgerEntry");

const BookedShape = z
  .object({
    entry: LedgerEntryShape,
    booked: z.boolean().openapi({
      description: "False where this source key was booked before, and nothing changed.",
    }),
    balanceMicros: z.int(),
  })
  .openapi("BookedCredit");

/** Credits by the operator, and the ledger: the operator's view of it and a developer's (SPEC 9). */
export function addMoneyRoutes(api: Api, deps: ApiDeps, auth: Auth): void {
  addCredits(api, deps, auth);
  route(
    api,
    {
      method: "get",
      path: `${ACCOUNT}/ledger`,
      summary: "Lists an account's ledger, the newest entry first",
      by: "operator",
      query: PageQuery,
      answer: pageShape(LedgerEntryShape),
    },
    async (context) => {
      await auth.operator(context);
      const { accountId } = await accountOfPath(context, deps);
      const { limit, cursor } = readQuery(context, PageQuery);
      const page = { limit, cursor: cursor ?? null };
      return ledgerPage(context, pageOf(await deps.store.listLedger(accountId, null, page)));
    },
  );
  route(
    api,
    {
      method: "get",
      path: "/v1/ledger",
      summary:
        "Lists what the account was credited and what this project used, the newest entry first",
      by: "developer",
      need: "money",
      query: PageQuery,
      answer: pageShape(LedgerEntryShape),
    },
    async (context) => {
      const { accountId, projectId } = await auth.developer(context);
      const { limit, cursor } = readQuery(context, PageQuery);
      const page = { limit, cursor: cursor ?? null };
      return ledgerPage(context, pageOf(await deps.store.listLedger(accountId, projectId, page)));
    },
  );
}

function addCredits(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "post",
      path: `${ACCOUNT}/credits`,
      summary: "Credits an account, or takes credit back; the same source key is booked once",
      by: "operator",
      body: CreditInput,
      status: 201,
      answer: BookedShape,
      errors: ["CONFLICT"],
    },
    async (context) => {
      await auth.operator(context);
      const { accountId } = await accountOfPath(context, deps);
      const { kind, ...input } = await readInput(context, CreditInput);
      const booked = await deps.billing.payments.book({
        ...input,
        accountId,
        kind: kind ?? (input.amountMicros > 0 ? "grant" : "adjustment"),
      });
      return bookedAnswer(context, booked);
    },
  );
}

function bookedAnswer(context: ApiContext, booked: BookedCredit): Response {
  switch (booked.type) {
    case "no_account":
      throw notFound("account");
    case "other_credit":
      throw new ApiError("CONFLICT", "sourceKey: was booked for another account or amount");
    case "too_much":
      throw new ApiError("CONFLICT", `The balance would be past ${MONEY_MICROS_MAX} millionths`);
    case "booked":
    case "known": {
      const isNew = booked.type === "booked";
      const answer: z.output<typeof BookedShape> = {
        entry: entryView(booked.entry),
        booked: isNew,
        balanceMicros: booked.account.balanceMicros,
      };
      return json(context, isNew ? 201 : 200, answer);
    }
  }
}

/** The account that the path names: for the operator alone. */
export async function accountOfPath(context: ApiContext, deps: ApiDeps): Promise<Account> {
  const accountId = context.req.param("accountId") ?? "";
  const account = isUuid(accountId) ? await deps.store.getAccount(accountId as AccountId) : null;
  if (account === null) throw notFound("account");
  return account;
}

function ledgerPage(
  context: ApiContext,
  page: { readonly items: readonly LedgerEntry[]; readonly nextCursor: string | null },
): Response {
  return json(context, 200, { items: page.items.map(entryView), nextCursor: page.nextCursor });
}

function entryView(entry: LedgerEntry): z.output<typeof LedgerEntryShape> {
  return {
    id: entry.entryId,
    at: isoTime(entry.createdAt),
    kind: entry.kind,
    amountMicros: entry.amountMicros,
    projectId: entry.projectId,
    note: entry.note,
    sourceKey: entry.sourceKey,
  };
}
