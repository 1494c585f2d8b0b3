import { useInfiniteQuery } from "@tanstack/react-query";
import { ApiFailure } from "../../api/client.ts";
import { ledgerQuery } from "../../api/project-queries.ts";
import { Card } from "../../ui/card.tsx";
import { fullTime, money } from "../../ui/format.ts";
import { Empty, FailureNote, Loading } from "../../ui/notice.tsx";
import { Cell, More, Row, Table } from "../../ui/table.tsx";

/** Money that came and went: the account's credits, and what this project used. */
export function Ledger({ projectId }: { readonly projectId: string }) {
  const query = useInfiniteQuery(ledgerQuery(projectId));
  // Some roles do not see money; the rest of the page is theirs all the same.
  if (query.error instanceof ApiFailure && query.error.status === 403) return null;
  const entries = query.data?.pages.flatMap((page) => page.items);
  return (
    <Card flush title="Ledger" note="The balance is the sum of all lines of the account.">
      {query.error !== null ? (
        <FailureNote failure={query.error} onRetry={() => void query.refetch()} />
      ) : entries === undefined ? (
        <Loading />
      ) : entries.length === 0 ? (
        <Empty title="Nothing booked yet">Credit that the operator books appears here.</Empty>
      ) : (
        <Table
          caption="Ledger"
          columns={[
            { name: "When" },
            { name: "Kind" },
            { name: "Note" },
            { name: "Source", wideOnly: true },
            { name: "Amount", end: true },
          ]}
        >
          {entries.map(({ id, at, kind, note, sourceKey, amountMicros }) => (
            <Row key={id}>
              <Cell className="whitespace-nowrap">{fullTime(at)}</Cell>
              <Cell>{kind}</Cell>
              <Cell dir="auto" className="max-w-72 break-words">
                {note}
              </Cell>
              <Cell wideOnly className="max-w-56">
                <code className="block truncate" title={sourceKey}>
                  {sourceKey}
                </code>
              </Cell>
              <Cell end>
                {amountMicros > 0 ? "+" : ""}
                {money(amountMicros)}
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      <More query={query} />
    </Card>
  );
}
