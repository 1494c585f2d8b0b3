import { useEffect, useRef, useState } from "react";
import { useLive } from "../../api/live.tsx";
import type { CallFilter } from "../../api/project-queries.ts";
import type { Call } from "../../api/shapes.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { count, plural } from "../../ui/format.ts";
import { Empty } from "../../ui/notice.tsx";
import { CallTable } from "./call-table.tsx";

/** Rows that stand on the page; older ones are in the list. */
const ROWS_MAX = 100;
/** New rows are shown together this often, however fast they come. */
const FLUSH_MS = 250;

/** Calls as they happen, those that fit the filter; nothing comes while the page is not looked at. */
export function LiveTail({
  projectId,
  filter,
  onOpen,
}: {
  readonly projectId: string;
  readonly filter: CallFilter;
  readonly onOpen: (call: Call) => void;
}) {
  const [isPaused, setIsPaused] = useState(false);
  const { rows, seen, dropped, state, clear } = useTail(filter, isPaused);
  const words = {
    connecting: "Connecting…",
    live: isPaused ? "Paused by you." : "Live.",
    asleep: "Paused while this page is not looked at.",
  };
  return (
    <Card
      flush
      title="Live"
      note={
        <>
          {words[state]} {plural(seen, "call")} since you came
          {dropped > 0 ? `; ${count(dropped)} came too fast to be shown` : ""}.
        </>
      }
      actions={
        <>
          <Button small onClick={clear}>
            Clear
          </Button>
          <Button small aria-pressed={isPaused} onClick={() => setIsPaused(!isPaused)}>
            {isPaused ? "Go on" : "Pause"}
          </Button>
        </>
      }
    >
      {rows.length === 0 ? (
        <Empty title={isPaused ? "Paused" : "Waiting for the next call"}>
          Calls that fit the filter above appear here as they end.
        </Empty>
      ) : (
        <CallTable projectId={projectId} calls={rows} onOpen={onOpen} live />
      )}
    </Card>
  );
}

function useTail(filter: CallFilter, isPaused: boolean) {
  const [rows, setRows] = useState<readonly Call[]>([]);
  const [seen, setSeen] = useState(0);
  const [dropped, setDropped] = useState(0);
  const waiting = useRef<Call[]>([]);
  const missed = useRef({ seen: 0, dropped: 0 });
  const state = useLive({
    call: (call) => {
      if (!fits(call, filter)) return;
      missed.current.seen += 1;
      // Once paused, the page stands still; what passes is in the list.
      if (isPaused) return;
      waiting.current.unshift(call);
      waiting.current.length = Math.min(waiting.current.length, ROWS_MAX);
    },
    dropped: (calls) => {
      missed.current.dropped += calls;
    },
  });
  useEffect(() => {
    const timer = setInterval(() => {
      const { seen: more, dropped: lost } = missed.current;
      if (more === 0 && lost === 0) return;
      missed.current = { seen: 0, dropped: 0 };
      setSeen((before) => before + more);
      setDropped((before) => before + lost);
      const fresh = waiting.current;
      waiting.current = [];
      if (fresh.length > 0) setRows((before) => [...fresh, ...before].slice(0, ROWS_MAX));
    }, FLUSH_MS);
    return () => clearInterval(timer);
  }, []);
  return { rows, seen, dropped, state, clear: () => setRows([]) };
}

function fits(call: Call, { outcome, counted, linkId, tool, client }: CallFilter): boolean {
  return (
    (outcome === undefined || call.outcome === outcome) &&
    (counted === undefined || String(call.counted) === counted) &&
    (linkId === undefined || call.linkId === linkId) &&
    (tool === undefined || call.tool === tool) &&
    (client === undefined || call.client?.name === client)
  );
}
