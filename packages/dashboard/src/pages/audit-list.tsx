import { infiniteQueryOptions, useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../api/action.tsx";
import { queryOf, request } from "../api/client.ts";
import type { Page } from "../api/shapes.ts";
import { Button } from "../ui/button.tsx";
import { Card, Facts } from "../ui/card.tsx";
import { CodeBlock, CopyLine } from "../ui/copy.tsx";
import { Drawer } from "../ui/dialog.tsx";
import { fullTime, jsonLines } from "../ui/format.ts";
import { Empty, FailureNote, Loading } from "../ui/notice.tsx";
import { Cell, More, Row, Table } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";

type AuditEntry = {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly address: string;
  readonly requestId: string;
};

const auditQuery = (path: string) =>
  infiniteQueryOptions({
    queryKey: ["audit", path],
    queryFn: ({ pageParam, signal }) =>
      request<Page<AuditEntry>>(
        "GET",
        `${path}${queryOf({ limit: 50, cursor: pageParam })}`,
        undefined,
        signal,
      ),
    initialPageParam: "",
    getNextPageParam: (page: Page<AuditEntry>) => page.nextCursor ?? undefined,
  });

/** Who did what, the newest first; nobody can change a line. */
export function AuditList({ path }: { readonly path: string }) {
  const query = useInfiniteQuery(auditQuery(path));
  const [opened, setOpened] = useState<AuditEntry | null>(null);
  // Runs the question again once the password was given, where that is what it takes.
  const again = useAction(() => query.refetch({ throwOnError: true }));
  if (query.error !== null) {
    return <FailureNote failure={query.error} onRetry={() => again.run()} />;
  }
  const entries = query.data?.pages.flatMap((page) => page.items);
  return (
    <Card flush>
      {entries === undefined ? (
        <Loading lines={8} />
      ) : entries.length === 0 ? (
        <Empty title="Nothing was changed yet" />
      ) : (
        <Table
          caption="Audit log"
          columns={[
            { name: "When" },
            { name: "Who" },
            { name: "What" },
            { name: "Target", wideOnly: true },
            { name: "From", wideOnly: true },
            { name: "Details", silent: true, end: true },
          ]}
        >
          {entries.map((entry) => (
            <Row key={entry.id}>
              <Cell>
                <Ago at={entry.at} />
              </Cell>
              <Cell className="max-w-48 truncate" title={entry.actor}>
                {entry.actor}
              </Cell>
              <Cell className="max-w-80 break-words">{entry.action}</Cell>
              <Cell wideOnly className="max-w-44">
                <code className="block truncate" title={entry.target ?? undefined}>
                  {entry.target}
                </code>
              </Cell>
              <Cell wideOnly>
                <code>{entry.address}</code>
              </Cell>
              <Cell end>
                <Button small kind="quiet" onClick={() => setOpened(entry)}>
                  Details
                </Button>
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      <More query={query} />
      {opened === null ? null : <EntryDrawer entry={opened} onClose={() => setOpened(null)} />}
    </Card>
  );
}

function EntryDrawer({
  entry,
  onClose,
}: {
  readonly entry: AuditEntry;
  readonly onClose: () => void;
}) {
  const { before, after } = entry;
  return (
    <Drawer open onClose={onClose} title={entry.action} note={fullTime(entry.at)}>
      <div className="flex flex-col gap-5">
        <Facts
          rows={[
            { name: "Who", value: entry.actor },
            { name: "Target", value: <code className="break-all">{entry.target ?? "none"}</code> },
            { name: "From", value: <code>{entry.address}</code> },
          ]}
        />
        {before === null || before === undefined ? null : (
          <CodeBlock title="Before" code={jsonLines(before)} />
        )}
        {after === null || after === undefined ? null : (
          <CodeBlock title="After" code={jsonLines(after)} />
        )}
        <CopyLine title="Request id" text={entry.requestId} />
        <p className="text-xs text-quiet">Secrets are taken out before a line is written.</p>
      </div>
    </Drawer>
  );
}
