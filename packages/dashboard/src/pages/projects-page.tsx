import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../api/action.tsx";
import { request } from "../api/client.ts";
import { projectsQuery } from "../api/project-queries.ts";
import { useMe } from "../api/session.ts";
import type { MadeProject, Project } from "../api/shapes.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Card, PageHead } from "../ui/card.tsx";
import { CopyLine } from "../ui/copy.tsx";
import { Dialog, DialogActions } from "../ui/dialog.tsx";
import { Field, Select, TextField } from "../ui/field.tsx";
import { Empty, FailureNote, Loading, Notice } from "../ui/notice.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";

/** All projects of the accounts that the person is in. */
export function ProjectsPage() {
  const projects = useQuery(projectsQuery);
  const [isMaking, setIsMaking] = useState(false);
  const make = (
    <Button kind="primary" onClick={() => setIsMaking(true)}>
      New project
    </Button>
  );
  return (
    <>
      <PageHead
        title="Projects"
        note="One for each app. A project has its keys, its links, and its own limits."
        actions={make}
      />
      <Card flush>
        {projects.error !== null ? (
          <FailureNote failure={projects.error} onRetry={() => void projects.refetch()} />
        ) : projects.data === undefined ? (
          <Loading />
        ) : projects.data.items.length === 0 ? (
          <Empty title="No project yet" action={make}>
            Make one for your app: it takes a name, and gives you the key that your app creates its
            links with.
          </Empty>
        ) : (
          <ProjectTable projects={projects.data.items} />
        )}
      </Card>
      {isMaking ? <NewProject onClose={() => setIsMaking(false)} /> : null}
    </>
  );
}

function ProjectTable({ projects }: { readonly projects: readonly Project[] }) {
  const accounts = useMe()?.accounts ?? [];
  const hasMany = accounts.length > 1;
  const nameOf = (accountId: string): string =>
    accounts.find((account) => account.accountId === accountId)?.name ?? "";
  return (
    <Table
      caption="Projects"
      columns={[
        { name: "Name" },
        ...(hasMany ? [{ name: "Account" }] : []),
        { name: "Calls a minute", end: true, wideOnly: true },
        { name: "Made" },
      ]}
    >
      {projects.map((project) => (
        <Row key={project.projectId}>
          <Cell className="max-w-72">
            <span className="flex flex-wrap items-center gap-2">
              <Link
                to="/projects/$projectId/start"
                params={{ projectId: project.projectId }}
                dir="auto"
                className="font-medium break-words hover:underline"
              >
                {project.name}
              </Link>
              {project.suspended ? <Badge tone="danger">suspended</Badge> : null}
              {project.stopped ? <Badge tone="warn">stopped</Badge> : null}
            </span>
          </Cell>
          {hasMany ? (
            <Cell className="max-w-48 truncate" dir="auto">
              {nameOf(project.accountId)}
            </Cell>
          ) : null}
          <Cell end wideOnly>
            {project.callsPerMinute}
          </Cell>
          <Cell>
            <Ago at={project.createdAt} />
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function NewProject({ onClose }: { readonly onClose: () => void }) {
  const accounts = useMe()?.accounts ?? [];
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [accountId, setAccountId] = useState(accounts[0]?.accountId ?? "");
  const [made, setMade] = useState<MadeProject | null>(null);
  const create = useAction(
    () => request<MadeProject>("POST", "projects", { name: name.trim(), accountId }),
    (project) => {
      setMade(project);
      void client.invalidateQueries({ queryKey: ["projects"] });
    },
  );
  if (made !== null) return <NewKeys project={made} />;
  return (
    <Dialog title="New project" open onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          create.run();
        }}
      >
        <TextField
          label="Name"
          hint="AI hosts show it as the name of the connector; it can be changed."
          required
          maxLength={64}
          autoFocus
          value={name}
          onValue={setName}
        />
        {accounts.length > 1 ? (
          <Field label="Account">
            {(ids) => (
              <Select
                {...ids}
                value={accountId}
                onValue={setAccountId}
                options={accounts.map((account) => ({
                  value: account.accountId,
                  label: account.name,
                }))}
              />
            )}
          </Field>
        ) : null}
        {create.failure === null ? null : <FailureNote failure={create.failure} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={create.busy}>
            Make the project
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** The keys of a project just made; the secret one is never shown again. */
function NewKeys({ project }: { readonly project: MadeProject }) {
  const navigate = useNavigate();
  const go = (): void =>
    void navigate({ to: "/projects/$projectId/start", params: { projectId: project.projectId } });
  return (
    <Dialog title={<bdi>{project.name}</bdi>} note="The project is made." open onClose={go}>
      <CopyLine title="Publishable key, for the app" text={project.publishableKey} />
      <CopyLine title="Secret key, for your server and scripts" text={project.secretKey} />
      <Notice tone="warn">
        The secret key is shown this once. Keep it now if you need it; you can make others later.
      </Notice>
      <DialogActions>
        <Button kind="primary" onClick={go}>
          Connect the app
        </Button>
      </DialogActions>
    </Dialog>
  );
}
