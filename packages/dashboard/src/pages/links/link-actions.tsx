import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReactNode } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import type { Link } from "../../api/shapes.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { FailureNote } from "../../ui/notice.tsx";
import { say } from "../../ui/toast.tsx";
import { noteUrl } from "./known-urls.ts";

type ActionName = "pause" | "resume" | "rotate" | "revoke";

const DONE: Readonly<Record<ActionName, string>> = {
  pause: "The link is paused.",
  resume: "The link takes calls again.",
  rotate: "The link has a new URL; the old one is dead.",
  revoke: "The link is revoked.",
};

/** Pause, rotate and revoke, each with what it does; what breaks something asks first. */
export function LinkActions({
  projectId,
  link,
}: {
  readonly projectId: string;
  readonly link: Link;
}) {
  const client = useQueryClient();
  const [asking, setAsking] = useState<"rotate" | "revoke" | null>(null);
  const act = useAction(
    async (name: ActionName) => {
      const path = `projects/${projectId}/links/${link.linkId}/${name}`;
      return { name, answer: await request<{ readonly mcpUrl?: string }>("POST", path, {}) };
    },
    ({ name, answer }) => {
      setAsking(null);
      say(DONE[name]);
      if (answer.mcpUrl !== undefined) noteUrl(link.linkId, { mcpUrl: answer.mcpUrl });
      void client.invalidateQueries({ queryKey: ["project", projectId] });
    },
  );
  const pauseOrResume = link.paused ? "resume" : "pause";
  return (
    <>
      <ActionRow
        title={link.paused ? "Resume" : "Pause"}
        note={
          link.paused
            ? "Hosts can call the app again."
            : "Hosts are told that the app is paused; calls that run finish. It can be taken back."
        }
      >
        <Button small busy={act.busy} onClick={() => act.run(pauseOrResume)}>
          {link.paused ? "Resume" : "Pause"}
        </Button>
      </ActionRow>
      <ActionRow
        title="New URL"
        note="For a URL that somebody else has seen. Hosts need the new one."
      >
        <Button small onClick={() => setAsking("rotate")}>
          Rotate…
        </Button>
      </ActionRow>
      <ActionRow title="End the link" note="The app is disconnected for good, and its URL is dead.">
        <Button small kind="danger" onClick={() => setAsking("revoke")}>
          Revoke…
        </Button>
      </ActionRow>
      {act.failure === null || asking !== null ? null : (
        <div className="p-4">
          <FailureNote failure={act.failure} />
        </div>
      )}
      {asking === null ? null : (
        <Confirm
          title={asking === "rotate" ? "Give this link a new URL?" : "Revoke this link?"}
          action={asking === "rotate" ? "Rotate the URL" : "Revoke the link"}
          typed={link.label ?? link.linkId.slice(-12)}
          busy={act.busy}
          failure={act.failure}
          onConfirm={() => act.run(asking)}
          onClose={() => {
            act.reset();
            setAsking(null);
          }}
        >
          {WARNINGS[asking]}
        </Confirm>
      )}
    </>
  );
}

const WARNINGS: Readonly<Record<"rotate" | "revoke", ReactNode>> = {
  rotate: (
    <>
      <p>
        The old URL stops at once: every host that has it answers 404 until the person gives it the
        new one. Calls that run finish.
      </p>
      <p>
        The app gets the new URL on its socket, or when it connects next, and can show it to the
        person. For links that were made with a secret key or here, this page shows it too.
      </p>
    </>
  ),
  revoke: (
    <>
      <p>
        The app’s socket closes with 4410 and may not come back; calls that run end as disconnected;
        every host that has the URL gets 404.
      </p>
      <p>
        The person has to make a new link in the app and give its URL to each host again. This can
        not be taken back.
      </p>
    </>
  ),
};

function ActionRow({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note: string;
  readonly children: ReactNode;
}) {
  return (
    <div className="flex items-center justify-between gap-4 border-b border-line px-4 py-3 last:border-b-0">
      <div className="min-w-0">
        <p className="font-medium">{title}</p>
        <p className="text-sm text-quiet">{note}</p>
      </div>
      {children}
    </div>
  );
}
