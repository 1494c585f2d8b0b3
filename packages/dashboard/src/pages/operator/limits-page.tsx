import { LIMITS, limitEnvName } from "@relay/protocol";
import type { LimitName } from "@relay/protocol";
import { useQuery } from "@tanstack/react-query";
import { Badge } from "../../ui/badge.tsx";
import { Card, PageHead } from "../../ui/card.tsx";
import { count } from "../../ui/format.ts";
import { FailureNote, Loading } from "../../ui/notice.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { healthQuery } from "./operator-queries.ts";

// The table's own keys.
const NAMES = Object.keys(LIMITS) as LimitName[];

/** Every limit that is enforced, as it is set here. */
export function LimitsPage() {
  const health = useQuery(healthQuery);
  return (
    <>
      <PageHead
        title="Limits"
        note="As they are in force. Those with a variable can be set by it; the others are part of the protocol."
      />
      {health.error !== null ? (
        <FailureNote failure={health.error} onRetry={() => void health.refetch()} />
      ) : health.data === undefined ? (
        <Loading lines={10} />
      ) : (
        <LimitTable limits={health.data.limits} />
      )}
    </>
  );
}

function LimitTable({ limits }: { readonly limits: Readonly<Record<string, number>> }) {
  return (
    <Card flush>
      <Table
        caption="Limits"
        columns={[
          { name: "Limit" },
          { name: "Value", end: true },
          { name: "Past it", wideOnly: true },
          { name: "Variable", wideOnly: true },
        ]}
      >
        {NAMES.map((name) => {
          const rule = LIMITS[name];
          const value = limits[name] ?? rule.value;
          return (
            <Row key={name}>
              <Cell>
                {rule.title.replaceAll("`", "")}
                {rule.settable ? (
                  <code className="block text-xs break-all text-quiet lg:hidden">
                    {limitEnvName(name)}
                  </code>
                ) : null}
              </Cell>
              <Cell end>
                <span className="inline-flex items-center gap-2">
                  {value === rule.value ? null : <Badge tone="info">changed</Badge>}
                  {count(value)}
                </span>{" "}
                <span className="block text-xs text-quiet">{rule.unit.split(";")[0]}</span>
              </Cell>
              <Cell wideOnly className="text-quiet">
                {rule.past.replaceAll("`", "")}
              </Cell>
              <Cell wideOnly>
                {rule.settable ? (
                  <code className="text-xs">{limitEnvName(name)}</code>
                ) : (
                  <span className="text-quiet">fixed</span>
                )}
              </Cell>
            </Row>
          );
        })}
      </Table>
    </Card>
  );
}
