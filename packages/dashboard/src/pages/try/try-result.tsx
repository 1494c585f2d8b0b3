import { OutcomeChip } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock, CopyButton } from "../../ui/copy.tsx";
import { duration } from "../../ui/format.ts";
import { Empty } from "../../ui/notice.tsx";
import { OUTCOME_HINTS } from "../calls/outcome-hints.ts";
import type { Ending, Frame, TryState } from "./use-try.ts";

/** How a call stands: its answer as a host would get it, and its frames to the letter. */
export function TryResult({ state }: { readonly state: TryState }) {
  if (state.type === "refused") return null;
  if (state.type === "idle") {
    return (
      <Card>
        <Empty title="Nothing called yet">
          The answer and the exact frames between Relay and the app appear here.
        </Empty>
      </Card>
    );
  }
  return (
    <>
      <div aria-live="polite">
        {state.type === "running" ? (
          <Card title="Running…">
            <p className="text-sm text-quiet">The app has until its deadline to answer.</p>
          </Card>
        ) : state.type === "cancelled" ? (
          <Card title="Cancelled">
            <p className="text-sm text-quiet">
              The app was told to stop. What it answers now is not delivered; the call is counted if
              it had reached the app.
            </p>
          </Card>
        ) : (
          <EndingCard ending={state.ending} />
        )}
      </div>
      <Frames frames={state.frames} />
    </>
  );
}

function EndingCard({ ending }: { readonly ending: Ending }) {
  const { outcome, durationMs, isError, content, structuredContent } = ending;
  return (
    <Card
      title={
        <span className="flex flex-wrap items-center gap-3">
          <OutcomeChip outcome={outcome} />
          <span className="text-sm font-normal text-quiet">{duration(durationMs)}</span>
        </span>
      }
      note={
        outcome !== "ok"
          ? OUTCOME_HINTS[outcome]
          : isError
            ? "The app marked its answer as an error."
            : "As a host would get it."
      }
    >
      <div className="flex flex-col gap-3">
        {content.map((block, index) =>
          block.type === "text" && typeof block.text === "string" ? (
            <p
              key={index}
              dir="auto"
              className="rounded-md border border-line bg-sunken p-3 text-sm break-words whitespace-pre-wrap"
            >
              {block.text}
            </p>
          ) : (
            <CodeBlock key={index} title={block.type} code={JSON.stringify(block, null, 2)} />
          ),
        )}
        {structuredContent === undefined ? null : (
          <CodeBlock title="structuredContent" code={JSON.stringify(structuredContent, null, 2)} />
        )}
        {content.length === 0 && structuredContent === undefined ? (
          <p className="text-sm text-quiet">The answer is empty.</p>
        ) : null}
      </div>
    </Card>
  );
}

const ARROWS = { to_app: "Relay → app", from_app: "app → Relay" } as const;

function Frames({ frames }: { readonly frames: readonly Frame[] }) {
  if (frames.length === 0) return null;
  return (
    <Card
      title="Frames"
      note="To the letter, as they went over the socket."
      actions={<CopyButton text={frames.map(({ text }) => text).join("\n")} label="Copy all" />}
    >
      <ol className="flex flex-col gap-3">
        {frames.map(({ at, direction, text }, index) => (
          <li key={index} className="min-w-0">
            <p className="flex justify-between gap-2 text-xs text-quiet">
              <span>{ARROWS[direction]}</span>
              <time dateTime={at}>{at.slice(11, 23)}</time>
            </p>
            <pre
              dir="ltr"
              className="mt-1 rounded-md border border-line bg-sunken p-2 text-xs leading-5 break-all whitespace-pre-wrap"
            >
              {text}
            </pre>
          </li>
        ))}
      </ol>
    </Card>
  );
}
