import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { linkQuery, linksQuery, manifestQuery } from "../../api/project-queries.ts";
import type { Link, MadeLink } from "../../api/shapes.ts";
import { LinkStateLabel } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, PageHead } from "../../ui/card.tsx";
import { CodeBlock, CopyLine } from "../../ui/copy.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { shortId } from "../../ui/format.ts";
import { Empty, FailureNote, Loading, Notice } from "../../ui/notice.tsx";
import { HostWays } from "../links/host-panel.tsx";
import { noteUrl, useKnownLink } from "../links/known-urls.ts";
import { useLiveLinks } from "../links/live-links.ts";
import { TryTool } from "./try-tool.tsx";

/** Calls a tool from here, on a link made for that, and shows every frame of it. */
export function TryPage() {
  const { projectId } = useParams({ from: "/app/projects/$projectId/try" });
  const { link: linkId } = useSearch({ from: "/app/projects/$projectId/try" });
  const navigate = useNavigate({ from: "/projects/$projectId/try" });
  useLiveLinks(projectId);
  const choose = (link: string): void => void navigate({ search: { link }, replace: true });
  return (
    <>
      <PageHead
        title="Try a tool"
        note="On a trial link, which your own app connects with. A person’s link is never called from here: what is behind it is theirs."
      />
      <div className="flex flex-col gap-6">
        <TrialLinks projectId={projectId} linkId={linkId ?? null} onChoose={choose} />
        {linkId === undefined ? null : <Trial key={linkId} projectId={projectId} linkId={linkId} />}
      </div>
    </>
  );
}

/** The project's trial links, and a new one. */
function TrialLinks({
  projectId,
  linkId,
  onChoose,
}: {
  readonly projectId: string;
  readonly linkId: string | null;
  readonly onChoose: (linkId: string) => void;
}) {
  const client = useQueryClient();
  const query = useInfiniteQuery(linksQuery(projectId, { trial: "true", sort: "-createdAt" }));
  const trials = (query.data?.pages ?? []).flatMap((page) => page.items);
  const make = useAction(
    () => {
      const label = `${TRIAL_LABEL} ${new Date().toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}`;
      return request<MadeLink>("POST", `projects/${projectId}/trial-links`, { label });
    },
    (made) => {
      noteUrl(made.linkId, made);
      void client.invalidateQueries({ queryKey: ["project", projectId, "links"] });
      onChoose(made.linkId);
    },
  );
  if (query.error !== null) {
    return <FailureNote failure={query.error} onRetry={() => void query.refetch()} />;
  }
  if (query.data === undefined) return <Loading lines={2} />;
  return (
    <div className="flex flex-wrap items-end gap-2">
      {trials.length === 0 ? null : (
        <div className="min-w-0 flex-1 basis-60 sm:max-w-md">
          <Field label="Trial link">
            {(ids) => (
              <Select
                {...ids}
                value={linkId ?? ""}
                onValue={onChoose}
                options={[...unlisted(linkId, trials), ...trials.map(optionOf)]}
              />
            )}
          </Field>
        </div>
      )}
      {query.hasNextPage ? (
        <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Older ones
        </Button>
      ) : null}
      <Button
        kind={trials.length === 0 ? "primary" : "secondary"}
        busy={make.busy}
        onClick={() => make.run()}
      >
        New trial link
      </Button>
      {make.failure === null ? null : <FailureNote failure={make.failure} />}
    </div>
  );
}

const TRIAL_LABEL = "Trial";

/** What stands in the list while none of it is chosen: nothing yet, or a link of the address. */
function unlisted(linkId: string | null, trials: readonly Link[]) {
  if (linkId === null) return [{ value: "", label: "Choose one" }];
  const isListed = trials.some((link) => link.linkId === linkId);
  return isListed ? [] : [{ value: linkId, label: shortId(linkId) }];
}

function optionOf(link: Link): { readonly value: string; readonly label: string } {
  const state = link.connected ? "online" : "offline";
  return { value: link.linkId, label: `${link.label ?? link.linkId} (${state})` };
}

function Trial({ projectId, linkId }: { readonly projectId: string; readonly linkId: string }) {
  const link = useQuery(linkQuery(projectId, linkId));
  const manifest = useQuery({
    ...manifestQuery(projectId, linkId),
    enabled: link.data !== undefined && link.data.app !== null,
  });
  const failure = link.error ?? manifest.error;
  if (failure !== null) return <FailureNote failure={failure} />;
  if (link.data === undefined) return <Loading />;
  if (link.data.trial !== true) {
    return <Notice tone="warn">This is a person’s link. Choose a trial link, or make one.</Notice>;
  }
  return (
    <>
      <div className="text-sm">
        <LinkStateLabel link={link.data} />
      </div>
      <HowToConnect link={link.data} />
      {manifest.data === undefined ? null : manifest.data.tools.length === 0 ? (
        <Empty title="The app has no tools" />
      ) : (
        <TryTool
          projectId={projectId}
          linkId={linkId}
          tools={manifest.data.tools}
          connected={link.data.connected}
        />
      )}
    </>
  );
}

/** What the app needs to connect with a trial link; shown while it is known and not yet used. */
function HowToConnect({ link }: { readonly link: Link }) {
  const known = useKnownLink(link.linkId);
  if (link.connected && known === null) return null;
  if (known?.linkToken === undefined || known.socketUrl === undefined) {
    return link.connected ? null : (
      <Notice tone="info" title="The app is not connected with this link">
        Its link token was shown when it was made. If nobody kept it, make a new trial link.
      </Notice>
    );
  }
  const record = { linkId: link.linkId, linkToken: known.linkToken, mcpUrl: known.mcpUrl };
  return (
    <Card
      title={link.connected ? "Connected" : "Let your app connect with this link"}
      note="Shown until you leave this page: keep what you need."
    >
      <div className="flex flex-col gap-4">
        {link.connected ? null : (
          <>
            <CodeBlock
              title="With @relay/client: give it this store"
              code={`import { createRelay, memoryStore } from "@relay/client";

createRelay({
  // … your app as it is
  store: memoryStore(${JSON.stringify(record, null, 2).replaceAll("\n", "\n  ")}),
});`}
            />
            <CopyLine title="Link token, for the hello of a raw WebSocket" text={known.linkToken} />
            <CopyLine title="Socket" text={known.socketUrl} />
          </>
        )}
        <details>
          <summary className="w-fit text-sm font-medium">Connect a host to this link</summary>
          <div className="mt-4">
            <HostWays appName={link.app?.name ?? "app"} mcpUrl={known.mcpUrl} />
          </div>
        </details>
      </div>
    </Card>
  );
}
