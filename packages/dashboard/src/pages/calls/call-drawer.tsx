import { OUTCOMES } from "@relay/protocol";
import { Link } from "@tanstack/react-router";
import type { Call } from "../../api/shapes.ts";
import { Badge, OutcomeChip } from "../../ui/badge.tsx";
import { Facts } from "../../ui/card.tsx";
import { CopyLine } from "../../ui/copy.tsx";
import { Drawer } from "../../ui/dialog.tsx";
import { bytes, duration, fullTime } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";
import { OUTCOME_HINTS } from "./outcome-hints.ts";

/** Everything Relay keeps of one call, and what to make of it. */
export function CallDrawer({
  projectId,
  call,
  onClose,
}: {
  readonly projectId: string;
  readonly call: Call;
  readonly onClose: () => void;
}) {
  const { outcome } = call;
  return (
    <Drawer
      open
      onClose={onClose}
      title={<code className="break-all">{call.tool}</code>}
      note={fullTime(call.startedAt)}
    >
      <div className="flex flex-col gap-5">
        <div className="flex flex-wrap items-center gap-3">
          <OutcomeChip outcome={outcome} />
          <Badge tone={call.counted ? "info" : "plain"}>
            {call.counted ? "counted" : "not counted"}
          </Badge>
        </div>
        <Notice tone="info">
          <p>{OUTCOMES[outcome].meaning.replaceAll("`", "")}</p>
          <p className="mt-1">{OUTCOME_HINTS[outcome]}</p>
        </Notice>
        <Facts
          rows={[
            { name: "Took", value: duration(call.durationMs) },
            { name: "Arguments", value: bytes(call.requestBytes) },
            { name: "Answer", value: bytes(call.resultBytes) },
            {
              name: "Host",
              value:
                call.client === null ? (
                  "It did not say its name"
                ) : (
                  <bdi>
                    {call.client.name} {call.client.version}
                  </bdi>
                ),
            },
            { name: "Counted", value: whyCounted(call) },
            {
              name: "Link",
              value: (
                <Link
                  to="/projects/$projectId/links"
                  params={{ projectId }}
                  search={{ link: call.linkId }}
                  className="underline"
                >
                  <code className="break-all">{call.linkId}</code>
                </Link>
              ),
            },
          ]}
        />
        <CopyLine title="Request id: the host got it as X-Request-Id" text={call.requestId} />
        <CopyLine title="Call id: the app got it in the call frame" text={call.id} />
        <p className="text-xs text-quiet">
          Relay keeps who called what and how it ended, never arguments or results.
        </p>
      </div>
    </Drawer>
  );
}

function whyCounted({ outcome, counted }: Call): string {
  switch (OUTCOMES[outcome].counted) {
    case "always":
      return "Yes: the call reached the app, and its time was used.";
    case "never":
      return outcome === "disconnected"
        ? "No: the app was lost on the way, so the call is taken off the count."
        : "No: the call never reached the app.";
    case "sent":
      return counted
        ? "Yes: the app had the call when the host gave up."
        : "No: the host gave up before the app had the call.";
  }
}
