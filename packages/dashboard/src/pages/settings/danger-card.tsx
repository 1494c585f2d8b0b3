import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ReactNode } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import type { Project } from "../../api/shapes.ts";
import { forgetProject } from "../../shell/last-project.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { FailureNote } from "../../ui/notice.tsx";
import { say } from "../../ui/toast.tsx";
import { useProjectPatch } from "./use-project-patch.ts";

/** Stop, start and delete. What the operator suspended is not lifted here. */
export function DangerCard({ project }: { readonly project: Project }) {
  const [asking, setAsking] = useState<"stop" | "delete" | null>(null);
  const { projectId, stopped } = project;
  const patch = useProjectPatch(
    projectId,
    stopped ? "The project runs again." : "The project is stopped.",
    () => setAsking(null),
  );
  return (
    <Card title="Stop or delete" danger>
      <div className="flex flex-col gap-4">
        <Line
          title={stopped ? "Start the project" : "Stop the project"}
          note={
            stopped
              ? "Apps reconnect by themselves, within 30 seconds."
              : "Every app is disconnected and hosts are told that the connector is disabled, until you start it again."
          }
        >
          <Button
            busy={patch.busy}
            onClick={() => (stopped ? patch.run({ stopped: false }) : setAsking("stop"))}
          >
            {stopped ? "Start it" : "Stop it…"}
          </Button>
        </Line>
        {patch.failure === null || asking !== null ? null : <FailureNote failure={patch.failure} />}
        <Line
          title="Delete the project"
          note="Its links, keys and calls go with it. This can not be taken back."
        >
          <Button kind="danger" onClick={() => setAsking("delete")}>
            Delete it…
          </Button>
        </Line>
      </div>
      {asking === "stop" ? (
        <Confirm
          title="Stop this project?"
          action="Stop it"
          busy={patch.busy}
          failure={patch.failure}
          onConfirm={() => patch.run({ stopped: true })}
          onClose={() => setAsking(null)}
        >
          <p>
            Sockets close with 4423, and calls that run end as disconnected. You can start it again
            at any time.
          </p>
        </Confirm>
      ) : null}
      {asking === "delete" ? (
        <DeleteProject project={project} onClose={() => setAsking(null)} />
      ) : null}
    </Card>
  );
}

function DeleteProject({
  project,
  onClose,
}: {
  readonly project: Project;
  readonly onClose: () => void;
}) {
  const { projectId, name } = project;
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useAction(
    () => request("DELETE", `projects/${projectId}`, { name }),
    () => {
      forgetProject();
      say("The project is deleted.");
      void navigate({ to: "/projects" });
      client.removeQueries({ queryKey: ["project", projectId] });
      void client.invalidateQueries({ queryKey: ["projects"] });
    },
  );
  return (
    <Confirm
      title="Delete this project for good?"
      action="Delete it"
      typed={name}
      busy={remove.busy}
      failure={remove.failure}
      onConfirm={() => remove.run()}
      onClose={onClose}
    >
      <p>
        Every app is disconnected, every MCP URL answers 404, every key stops, and the calls are
        gone from here.
      </p>
    </Confirm>
  );
}

function Line({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note: string;
  readonly children: ReactNode;
}) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
      <div className="min-w-0 flex-1 basis-64">
        <p className="font-medium">{title}</p>
        <p className="text-sm text-quiet">{note}</p>
      </div>
      {children}
    </div>
  );
}
