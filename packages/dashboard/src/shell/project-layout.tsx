import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { ApiFailure } from "../api/client.ts";
import { LiveProvider } from "../api/live.tsx";
import { projectQuery } from "../api/project-queries.ts";
import { buttonClasses } from "../ui/button.tsx";
import { PageHead } from "../ui/card.tsx";
import { FailureNote, Loading, Notice } from "../ui/notice.tsx";
import { forgetProject, noteProject } from "./last-project.ts";

/** Every page of a project: with its stream of events, and with what is wrong with it as a whole. */
export function ProjectLayout() {
  const { projectId } = useParams({ from: "/app/projects/$projectId" });
  const project = useQuery(projectQuery(projectId));
  const isGone = project.error instanceof ApiFailure && project.error.status === 404;
  useEffect(() => {
    if (isGone) forgetProject();
    else noteProject(projectId);
  }, [isGone, projectId]);
  if (isGone) return <NoSuchProject />;
  if (project.error !== null) {
    return <FailureNote failure={project.error} onRetry={() => void project.refetch()} />;
  }
  if (project.data === undefined) return <Loading />;
  return (
    <LiveProvider key={projectId} projectId={projectId}>
      {project.data.suspended ? (
        <div className="mb-6">
          <Notice tone="danger" title="This project is suspended by the operator">
            Its links answer nobody. Only the operator of this Relay can lift that.
          </Notice>
        </div>
      ) : null}
      {project.data.stopped ? (
        <div className="mb-6">
          <Notice
            tone="warn"
            title="This project is stopped"
            action={
              <Link
                to="/projects/$projectId/settings"
                params={{ projectId }}
                className={buttonClasses("secondary", true)}
              >
                Start it in the settings
              </Link>
            }
          >
            Its apps are disconnected and hosts are told that the connector is disabled.
          </Notice>
        </div>
      ) : null}
      <Outlet />
    </LiveProvider>
  );
}

function NoSuchProject() {
  return (
    <>
      <PageHead
        title="There is no such project here"
        note="It was deleted, or it belongs to an account that you are not a member of."
      />
      <Link to="/projects" className={buttonClasses("primary")}>
        Your projects
      </Link>
    </>
  );
}
