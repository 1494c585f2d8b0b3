import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { projectQuery, usageQuery } from "../../api/project-queries.ts";
import { useFeatures } from "../../api/session.ts";
import type { Features, Usage } from "../../api/shapes.ts";
import { OutcomeChip } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, Figure, PageHead } from "../../ui/card.tsx";
import { Select } from "../../ui/field.tsx";
import { count, money } from "../../ui/format.ts";
import { Empty, FailureNote, Loading, Notice } from "../../ui/notice.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { OUTCOME_NAMES, OUTCOMES } from "@relay/protocol";
import { CapDialog } from "./cap-dialog.tsx";
import { DayBars } from "./day-bars.tsx";
import { Ledger } from "./ledger.tsx";

const MONTHS = 13;

/** What the project used in a month, what that cost, and the one number that matters. */
export function UsagePage() {
  const { projectId } = useParams({ from: "/app/projects/$projectId/usage" });
  const months = lastMonths(new Date());
  const { month = months[0] ?? "" } = useSearch({ from: "/app/projects/$projectId/usage" });
  const navigate = useNavigate({ from: "/projects/$projectId/usage" });
  const features = useFeatures();
  const usage = useQuery(usageQuery(projectId, month));
  const isNow = month === months[0];
  return (
    <>
      <PageHead
        title="Usage"
        note="Months are UTC. Only calls that reached the app and were not lost on the way are counted."
        actions={
          <Select
            aria-label="Month"
            value={month}
            onValue={(next) => void navigate({ search: { month: next }, replace: true })}
            options={months.map((value) => ({ value, label: monthWords(value) }))}
          />
        }
      />
      {usage.error !== null ? (
        <FailureNote failure={usage.error} onRetry={() => void usage.refetch()} />
      ) : usage.data === undefined || features === undefined ? (
        <Loading lines={8} />
      ) : (
        <div className="flex flex-col gap-6">
          <Headline
            projectId={projectId}
            usage={usage.data}
            billing={features.billing}
            isNow={isNow}
          />
          <Days usage={usage.data} />
          <ByOutcome usage={usage.data} />
          {features.billing === "prepaid" ? <Ledger projectId={projectId} /> : null}
        </div>
      )}
    </>
  );
}

/** The newest first, as `2026-11`. */
function lastMonths(now: Date): readonly string[] {
  return Array.from({ length: MONTHS }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  );
}

function monthWords(month: string): string {
  return new Date(`${month}-01T00:00:00Z`).toLocaleString("en", {
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
}

type HeadlineProps = {
  readonly projectId: string;
  readonly usage: Usage;
  readonly billing: Features["billing"];
  readonly isNow: boolean;
};

function Headline({ projectId, usage, billing, isNow }: HeadlineProps) {
  const { callsLeft, allowance, allowanceLeft } = usage;
  const isOver = isNow && callsLeft === 0;
  return (
    <Card>
      <dl className="grid gap-6 sm:grid-cols-2 lg:grid-cols-4">
        {isNow ? (
          <Figure
            large
            name="Calls you can still make this month"
            value={callsLeft === null ? "Unlimited" : count(callsLeft)}
            note={
              billing === "off"
                ? "This Relay does not bill; calls are counted all the same."
                : whyLeft(usage, billing)
            }
          />
        ) : null}
        <Figure
          name="Counted"
          value={count(usage.counted)}
          note={`of ${count(usage.total)} calls in all`}
        />
        {allowance === null ? null : (
          <Figure
            name="Allowance left"
            value={count(allowanceLeft ?? 0)}
            note={`of ${count(allowance)} free calls a month`}
          />
        )}
        {billing === "prepaid" ? <Spending projectId={projectId} usage={usage} /> : null}
      </dl>
      {allowance === null || allowance === 0 ? null : (
        <Meter label="Allowance used" value={allowance - (allowanceLeft ?? 0)} most={allowance} />
      )}
      {isOver ? (
        <div className="mt-4">
          <Notice tone="danger" title="Calls are refused now">
            {overWords(usage, billing)}
          </Notice>
        </div>
      ) : null}
    </Card>
  );
}

function whyLeft(
  { allowanceLeft, spendCapMicros, balanceMicros, spentMicros }: Usage,
  billing: string,
) {
  if (billing === "quota") return "What is left of the month’s free calls.";
  const cap = spendCapMicros === null ? null : spendCapMicros - spentMicros;
  const bound = cap !== null && cap < balanceMicros ? "the spend cap" : "the balance";
  return `${count(allowanceLeft ?? 0)} free ones, then as many as ${bound} can pay.`;
}

function overWords({ spendCapMicros, spentMicros, balanceMicros }: Usage, billing: string): string {
  if (billing === "quota")
    return "The month’s free calls are used up; the next month brings new ones.";
  const isCapped = spendCapMicros !== null && spendCapMicros - spentMicros < balanceMicros;
  return isCapped
    ? "The month’s spend cap is reached: hosts are told so. Raise it to go on."
    : "The free calls are used up and the balance can’t pay for one more. Ask the operator for credit.";
}

function Spending({ projectId, usage }: { readonly projectId: string; readonly usage: Usage }) {
  const project = useQuery(projectQuery(projectId)).data;
  const [isOpen, setIsOpen] = useState(false);
  const { spentMicros, spendCapMicros, balanceMicros } = usage;
  return (
    <>
      <Figure
        name="Spent this month"
        value={money(spentMicros)}
        note={
          <span className="inline-flex flex-wrap items-center gap-2">
            {spendCapMicros === null ? "no cap" : `cap ${money(spendCapMicros)}`}
            <Button small kind="quiet" onClick={() => setIsOpen(true)}>
              Change the cap
            </Button>
          </span>
        }
      />
      <Figure
        name="Balance"
        value={money(balanceMicros)}
        note="shared by the account’s projects; never expires"
      />
      {isOpen && project !== undefined ? (
        <CapDialog
          projectId={projectId}
          capMicros={spendCapMicros}
          onClose={() => setIsOpen(false)}
        />
      ) : null}
    </>
  );
}

function Meter({
  label,
  value,
  most,
}: {
  readonly label: string;
  readonly value: number;
  readonly most: number;
}) {
  const share = Math.min(1, value / most);
  return (
    <svg
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={most}
      aria-valuenow={value}
      aria-valuetext={`${count(value)} of ${count(most)}`}
      viewBox="0 0 100 2"
      preserveAspectRatio="none"
      className="mt-4 h-2 w-full overflow-hidden rounded-full"
    >
      <rect width={100} height={2} className="fill-(--line)" />
      <rect
        width={share * 100}
        height={2}
        className={
          share >= 1 ? "fill-(--danger)" : share >= 0.8 ? "fill-(--warn)" : "fill-(--accent)"
        }
      />
    </svg>
  );
}

function Days({ usage }: { readonly usage: Usage }) {
  return (
    <Card title="By day" note="Counted calls, and above them those that were not.">
      {usage.total === 0 ? <Empty title="No calls in this month" /> : <DayBars usage={usage} />}
    </Card>
  );
}

function ByOutcome({ usage }: { readonly usage: Usage }) {
  const outcomes = OUTCOME_NAMES.filter((name) => (usage.byOutcome[name] ?? 0) > 0);
  if (outcomes.length === 0) return null;
  return (
    <Card title="By outcome" flush>
      <Table
        caption="Calls of the month by outcome"
        columns={[
          { name: "Outcome" },
          { name: "Calls", end: true },
          { name: "Counted" },
          { name: "What it means", wideOnly: true },
        ]}
      >
        {outcomes.map((name) => (
          <Row key={name}>
            <Cell>
              <OutcomeChip outcome={name} />
            </Cell>
            <Cell end>{count(usage.byOutcome[name] ?? 0)}</Cell>
            <Cell>{COUNTED_WORDS[OUTCOMES[name].counted]}</Cell>
            <Cell wideOnly className="text-quiet">
              {OUTCOMES[name].meaning.replaceAll("`", "")}
            </Cell>
          </Row>
        ))}
      </Table>
    </Card>
  );
}

const COUNTED_WORDS = { always: "yes", never: "no", sent: "if it reached the app" } as const;
