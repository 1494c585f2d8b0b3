import { Link } from "@tanstack/react-router";
import type { Call } from "../../api/shapes.ts";
import { OutcomeChip } from "../../ui/badge.tsx";
import { bytes, clockTime, duration, fullTime, shortId } from "../../ui/format.ts";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";

type CallTableProps = {
  readonly projectId: string;
  readonly calls: readonly Call[];
  readonly onOpen: (call: Call) => void;
  /** In a list of one link's calls it need not be said; such a list is narrow, too. */
  readonly withoutLink?: boolean;
  /** Rows that came just now are marked for a moment, and say when to the second. */
  readonly live?: boolean;
};

/** Calls, the newest first; what was said in them is nowhere. */
export function CallTable(props: CallTableProps) {
  const { projectId, calls, onOpen, withoutLink = false, live = false } = props;
  return (
    <Table
      caption={live ? "Calls as they happen" : "Calls"}
      columns={[
        { name: "When" },
        { name: "Outcome" },
        { name: "Tool" },
        ...(withoutLink ? [] : [{ name: "Link" }]),
        { name: "Host", wideOnly: true },
        { name: "Took", end: true },
        ...(withoutLink
          ? []
          : [
              { name: "Sent", end: true, wideOnly: true },
              { name: "Answer", end: true, wideOnly: true },
            ]),
      ]}
    >
      {calls.map((call) => (
        <Row key={call.id} fresh={live}>
          <Cell>
            <button
              type="button"
              title={fullTime(call.startedAt)}
              onClick={() => onOpen(call)}
              className="whitespace-nowrap underline decoration-line-strong underline-offset-4 hover:decoration-current"
            >
              {live ? clockTime(call.startedAt) : <Ago at={call.startedAt} />}
            </button>
          </Cell>
          <Cell>
            <OutcomeChip outcome={call.outcome} />
          </Cell>
          <Cell className="max-w-56">
            <code className="block truncate" title={call.tool}>
              {call.tool}
            </code>
          </Cell>
          {withoutLink ? null : (
            <Cell>
              <Link
                to="/projects/$projectId/links"
                params={{ projectId }}
                search={{ link: call.linkId }}
                title={call.linkId}
                className="hover:underline"
              >
                <code>{shortId(call.linkId)}</code>
              </Link>
            </Cell>
          )}
          <Cell wideOnly className="max-w-40 truncate" dir="auto">
            {call.client?.name ?? <span className="text-quiet">not said</span>}
          </Cell>
          <Cell end>{duration(call.durationMs)}</Cell>
          {withoutLink ? null : (
            <>
              <Cell end wideOnly>
                {bytes(call.requestBytes)}
              </Cell>
              <Cell end wideOnly>
                {bytes(call.resultBytes)}
              </Cell>
            </>
          )}
        </Row>
      ))}
    </Table>
  );
}
