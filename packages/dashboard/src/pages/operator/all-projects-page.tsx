import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { useFeatures } from "../../api/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, PageHead } from "../../ui/card.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { count, shortId } from "../../ui/format.ts";
import { Empty, FailureNote, Loading } from "../../ui/notice.tsx";
import { Cell, More, Row, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { say } from "../../ui/toast.tsx";
import { TermsDialog } from "./terms-dialog.tsx";
import { operatorProjectsQuery } from "./operator-queries.ts";
import type { ListedProject } from "./operator-queries.ts";
import { OwnerLines } from "./owner-lines.tsx";

/** Every project of this Relay, to suspend and to set terms for. */
export function AllProjectsPage() {
  const projects = useInfiniteQuery(operatorProjectsQuery);
  const [suspending, setSuspending] = useState<ListedProject | null>(null);
  const [setting, setSetting] = useState<ListedProject | null>(null);
  const items = projects.data?.pages.flatMap((page) => page.items);
  return (
    <>
      <PageHead
        title="All projects"
        note="Of all accounts. What is in their calls is nobody’s but their people’s."
      />
      <Card flush>
        {projects.error !== null ? (
          <FailureNote failure={projects.error} onRetry={() => void projects.refetch()} />
        ) : items === undefined ? (
          <Loading lines={6} />
        ) : items.length === 0 ? (
          <Empty title="No project yet" />
        ) : (
          <ProjectTable projects={items} onSuspend={setSuspending} onTerms={setSetting} />
        )}
        <More query={projects} />
      </Card>
      {suspending === null ? null : (
        <Suspend project={suspending} onClose={() => setSuspending(null)} />
      )}
      {setting === null ? null : <TermsDialog project={setting} onClose={() => setSetting(null)} />}
    </>
  );
}

function ProjectTable({
  projects,
  onSuspend,
  onTerms,
}: {
  readonly projects: readonly ListedProject[];
  readonly onSuspend: (project: ListedProject) => void;
  readonly onTerms: (project: ListedProject) => void;
}) {
  const hasTerms = useFeatures()?.billing !== "off";
  return (
    <Table
      caption="All projects"
      columns={[
        { name: "Project" },
        { name: "Account", wideOnly: true },
        { name: "Calls a minute", end: true, wideOnly: true },
        { name: "Made", wideOnly: true },
        { name: "Actions", silent: true, end: true },
      ]}
    >
      {projects.map((project) => (
        <Row key={project.projectId}>
          <Cell className="max-w-72 min-w-36">
            <span className="flex flex-wrap items-center gap-2">
              <span dir="auto" className="min-w-0 font-medium wrap-anywhere">
                {project.name}
              </span>
              {project.suspended ? <Badge tone="danger">suspended</Badge> : null}
              {project.stopped ? <Badge tone="warn">stopped</Badge> : null}
            </span>
            <code className="block text-xs text-quiet">{shortId(project.projectId)}</code>
            {/* The account has a column of its own where there is room for one. */}
            <div className="mt-1 lg:hidden">
              <OwnerLines account={project.account} />
            </div>
          </Cell>
          <Cell wideOnly className="max-w-64">
            <OwnerLines account={project.account} />
          </Cell>
          <Cell end wideOnly>
            {count(project.callsPerMinute)}
          </Cell>
          <Cell wideOnly>
            <Ago at={project.createdAt} />
          </Cell>
          <Cell end>
            {hasTerms ? (
              <Button small kind="quiet" onClick={() => onTerms(project)}>
                Terms…
              </Button>
            ) : null}
            <Button small kind="quiet" onClick={() => onSuspend(project)}>
              {project.suspended ? "Lift…" : "Suspend…"}
            </Button>
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function Suspend({
  project,
  onClose,
}: {
  readonly project: ListedProject;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const { projectId, name, suspended } = project;
  const change = useAction(
    () => request("PATCH", `operator/projects/${projectId}`, { suspended: !suspended }),
    () => {
      say(suspended ? "The suspension is lifted." : "The project is suspended.");
      void client.invalidateQueries({ queryKey: operatorProjectsQuery.queryKey });
      void client.invalidateQueries({ queryKey: ["project", projectId] });
      onClose();
    },
  );
  return (
    <Confirm
      title={suspended ? "Lift the suspension?" : "Suspend this project?"}
      action={suspended ? "Lift it" : "Suspend it"}
      danger={!suspended}
      {...(suspended ? {} : { typed: name })}
      busy={change.busy}
      failure={change.failure}
      onConfirm={() => change.run()}
      onClose={onClose}
    >
      <p>
        {suspended
          ? "Its apps reconnect within 30 seconds and hosts are answered again."
          : "Its apps are disconnected with 4423 and hosts are told that the connector is disabled. Its developers see that you did it and can’t lift it."}
      </p>
    </Confirm>
  );
}
