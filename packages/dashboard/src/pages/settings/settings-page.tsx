import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { projectQuery } from "../../api/project-queries.ts";
import { PageHead } from "../../ui/card.tsx";
import { CopyLine } from "../../ui/copy.tsx";
import { Loading } from "../../ui/notice.tsx";
import { DangerCard } from "./danger-card.tsx";
import { GeneralCard } from "./general-card.tsx";
import { KeysCard } from "./keys-card.tsx";
import { OriginsCard } from "./origins-card.tsx";
import { WebhookCard } from "./webhook-card.tsx";

/** Everything about a project that can be set; each part is kept by itself. */
export function SettingsPage() {
  const { projectId } = useParams({ from: "/app/projects/$projectId/settings" });
  const project = useQuery(projectQuery(projectId)).data;
  if (project === undefined) return <Loading lines={8} />;
  return (
    <>
      <PageHead
        title="Settings"
        note="Changes apply at once, to calls and sockets that come from then on."
      />
      <div className="flex max-w-3xl flex-col gap-6">
        <GeneralCard project={project} />
        <KeysCard projectId={projectId} />
        <OriginsCard project={project} />
        <WebhookCard projectId={projectId} />
        <CopyLine title="Project id" text={projectId} />
        <DangerCard project={project} />
      </div>
    </>
  );
}
