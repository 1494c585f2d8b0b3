import { z } from "@hono/zod-openapi";
import { OUTCOME_NAMES } from "@relay/protocol";
import type { Outcome } from "@relay/protocol";
import { monthAt } from "../core/ledger-month.ts";
import { sameTerms, standingOf, termsOf } from "../core/ledger.ts";
import type { Standing } from "../core/ledger.ts";
import type { MonthMoney } from "../store/money.ts";
import type { Project, Usage } from "../store/store.ts";
import type { Auth } from "./auth.ts";
import { notFound } from "./errors.ts";
import { json, readQuery, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";

const UsageQuery = z.object({
  month: z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/, "must be a month such as 2026-07")
    .optional(),
});

const UsageShape = z
  .object({
    month: z.string(),
    counted: z.int(),
    total: z.int(),
    byOutcome: z.partialRecord(z.enum(OUTCOME_NAMES as [Outcome, ...Outcome[]]), z.int()),
    days: z.array(z.object({ day: z.string(), counted: z.int(), total: z.int() })),
    allowance: z
      .int()
      .nullable()
      .openapi({ description: "Free calls of the month; null is unlimited, here and below." }),
    allowanceLeft: z.int().nullable(),
    spentMicros: z.int(),
    spendCapMicros: z.int().nullable(),
    balanceMicros: z.int().openapi({
      description: "What the account has left; its projects share it.",
    }),
    callsLeft: z.int().nullable().openapi({
      description:
        "How many more calls can be made now: the free ones, and those that both the cap and the balance can pay. 0 for a month that is not the present one.",
    }),
  })
  .openapi("Usage");

/** What a project used in a month, what that cost, and what is left (SPEC 9). */
export function addUsageRoute(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "get",
      path: "/v1/usage",
      summary: "Shows what the project used in a month, UTC",
      by: "developer",
      query: UsageQuery,
      answer: UsageShape,
    },
    async (context) => {
      const project = await auth.developer(context);
      const thisMonth = monthAt(deps.clock.wall()).name;
      const month = readQuery(context, UsageQuery).month ?? thisMonth;
      const { projectId } = project;
      const [usage, money] = await Promise.all([
        deps.store.usage(projectId, month),
        deps.store.getMoney(projectId, month),
      ]);
      if (money === null) throw notFound("project");
      const standing = standingIn(deps, project, { usage, money, isNow: month === thisMonth });
      const answer: z.output<typeof UsageShape> = { ...usage, days: [...usage.days], ...standing };
      return json(context, 200, answer);
    },
  );
}

/** What was read of a month. */
type Read = { readonly usage: Usage; readonly money: MonthMoney; readonly isNow: boolean };

function standingIn(deps: ApiDeps, project: Project, { usage, money, isNow }: Read): Standing {
  const { mode } = deps.billing;
  const { spentMicros, balanceMicros, segment } = money;
  const facts = { spentMicros, capMicros: project.spendCapMicros, balanceMicros };
  if (!isNow && mode !== "off") {
    // A month that is over stands on its own last terms, and nothing can be called in it.
    const last = segment ?? { ...termsOf("off", project), countedAtStart: 0, counted: 0 };
    const counted = last.countedAtStart + last.counted;
    return { ...standingOf({ ...facts, segment: last, counted }), callsLeft: 0 };
  }
  const terms = termsOf(mode, project);
  const goesOn = segment !== null && segment.isOfThisMode && sameTerms(segment, terms);
  if (goesOn) {
    return standingOf({ ...facts, segment, counted: segment.countedAtStart + segment.counted });
  }
  // The next call will begin a segment on these terms.
  const next = { ...terms, countedAtStart: usage.counted };
  return standingOf({ ...facts, segment: next, counted: usage.counted });
}
