import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { keysQuery, projectQuery } from "../../api/project-queries.ts";
import { useFeatures } from "../../api/session.ts";
import { Card, PageHead } from "../../ui/card.tsx";
import { CodeBlock, CopyLine } from "../../ui/copy.tsx";
import { FailureNote, Loading, Notice } from "../../ui/notice.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { ChecklistCard } from "./checklist-card.tsx";
import { SNIPPETS } from "./snippets.ts";

/** From nothing to a call that comes back: code with the real key, and a list that ticks itself. */
export function StartPage() {
  const { projectId } = useParams({ from: "/app/projects/$projectId/start" });
  const project = useQuery(projectQuery(projectId)).data;
  return (
    <>
      <PageHead
        title="Connect your app"
        note={
          <>
            Your app makes a link for each person and keeps one socket open; the person gives the
            link’s URL to an AI host. Each step of <bdi>{project?.name}</bdi> ticks itself as it
            happens.
          </>
        }
      />
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="order-2 flex min-w-0 flex-col gap-6 lg:order-1">
          <CodeCard projectId={projectId} />
          <NoCodeCard projectId={projectId} />
        </div>
        <div className="order-1 lg:sticky lg:top-6 lg:order-2">
          <ChecklistCard projectId={projectId} />
        </div>
      </div>
    </>
  );
}

/** The publishable key that snippets show: the newest that works. */
function usePublishableKey(projectId: string) {
  const keys = useQuery(keysQuery(projectId));
  const live = keys.data?.items.filter(
    ({ kind, revokedAt, key }) => kind === "pk" && revokedAt === null && key !== null,
  );
  return { keys, key: live?.at(0)?.key ?? null };
}

function CodeCard({ projectId }: { readonly projectId: string }) {
  const { keys, key } = usePublishableKey(projectId);
  const features = useFeatures();
  const [chosen, setChosen] = useState("browser");
  if (keys.error !== null) {
    return <FailureNote failure={keys.error} onRetry={() => void keys.refetch()} />;
  }
  if (keys.data === undefined || features === undefined) return <Loading lines={8} />;
  if (key === null) {
    return (
      <Notice tone="warn" title="This project has no publishable key">
        Make one in the settings; the code for your app appears here.
      </Notice>
    );
  }
  const facts = { publicUrl: features.publicUrl, publishableKey: key };
  return (
    <Card
      title="In your app"
      note="The publishable key may ship inside the app: it can create links and nothing else."
    >
      <Tabs
        label="Where your app runs"
        value={chosen}
        onValue={setChosen}
        tabs={SNIPPETS.map(({ id, label, title, code }) => ({
          value: id,
          label,
          panel: () => <CodeBlock title={title} code={code(facts)} />,
        }))}
      />
      <div className="mt-4">
        <CopyLine title="Publishable key" text={key} />
      </div>
    </Card>
  );
}

function NoCodeCard({ projectId }: { readonly projectId: string }) {
  const { key } = usePublishableKey(projectId);
  const features = useFeatures();
  if (key === null || features === undefined) return null;
  const { publicUrl } = features;
  return (
    <Card title="Without writing code" note="From a checkout of Relay, on any machine.">
      <div className="flex flex-col gap-4">
        <CodeBlock
          title="An MCP server you already have becomes the app"
          wrap
          code={`npm run relay -- connect --relay ${publicUrl} --key ${key} -- npx -y @modelcontextprotocol/server-filesystem ~/Notes`}
        />
        <CodeBlock
          title="Create a link by hand"
          wrap
          code={`curl -X POST ${publicUrl}/v1/links -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '{"label":"My laptop"}'`}
        />
        <CodeBlock
          title="Call a tool as a host does; URL is the link’s mcpUrl"
          wrap
          code={`curl -N URL -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream" -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_notes","arguments":{"query":"invoices"}}}'`}
        />
      </div>
    </Card>
  );
}
