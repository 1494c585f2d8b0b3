import { useQuery } from "@tanstack/react-query";
import { manifestQuery } from "../../api/project-queries.ts";
import type { Link, ManifestTool } from "../../api/shapes.ts";
import { Badge } from "../../ui/badge.tsx";
import { CodeBlock } from "../../ui/copy.tsx";
import { jsonLines, plural } from "../../ui/format.ts";
import { Empty, FailureNote, Loading, Notice } from "../../ui/notice.tsx";

/** What the app offers, as its last hello had it, and what some hosts will dislike about that. */
export function LinkTools({
  projectId,
  link,
}: {
  readonly projectId: string;
  readonly link: Link;
}) {
  const manifest = useQuery({
    ...manifestQuery(projectId, link.linkId),
    enabled: link.app !== null,
  });
  if (link.app === null) {
    return <Empty title="No tools yet">They come with the app’s first hello.</Empty>;
  }
  if (manifest.error !== null) {
    return <FailureNote failure={manifest.error} onRetry={() => void manifest.refetch()} />;
  }
  if (manifest.data === undefined) return <Loading />;
  const { tools, warnings, instructions } = manifest.data;
  return (
    <div className="flex flex-col gap-5">
      {warnings.length === 0 ? null : (
        <Notice tone="warn" title={plural(warnings.length, "warning")}>
          <p>Everything works; some hosts will handle these badly.</p>
          <ul className="mt-2 flex flex-col gap-1">
            {warnings.map(({ path, message }) => (
              <li key={`${path} ${message}`} className="break-words">
                <code>{path}</code>: {message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {instructions === null || instructions === "" ? null : (
        <section>
          <h3 className="mb-1 font-semibold">Instructions for the model</h3>
          <p
            dir="auto"
            className="rounded-md border border-line bg-surface p-3 text-sm break-words whitespace-pre-wrap"
          >
            {instructions}
          </p>
        </section>
      )}
      <section className="flex flex-col gap-2">
        <h3 className="font-semibold">{plural(tools.length, "tool")}</h3>
        {tools.map((tool) => (
          <ToolPart key={tool.name} tool={tool} />
        ))}
      </section>
    </div>
  );
}

function ToolPart({ tool }: { readonly tool: ManifestTool }) {
  const { inputSchema, outputSchema, annotations } = tool;
  return (
    <details className="rounded-md border border-line bg-surface">
      <summary className="flex flex-wrap items-center gap-2 px-3 py-2">
        <code className="font-medium break-all">{tool.name}</code>
        <Hints annotations={annotations} />
        <span dir="auto" className="w-full text-sm break-words text-quiet">
          {tool.description ?? "It has no description; models guess what it does."}
        </span>
      </summary>
      <div className="flex flex-col gap-3 border-t border-line p-3">
        <CodeBlock title="inputSchema" code={jsonLines(inputSchema)} />
        {outputSchema === undefined ? null : (
          <CodeBlock title="outputSchema" code={jsonLines(outputSchema)} />
        )}
      </div>
    </details>
  );
}

const HINT_WORDS: readonly (readonly [string, string])[] = [
  ["readOnlyHint", "reads only"],
  ["destructiveHint", "may destroy"],
  ["idempotentHint", "repeatable"],
  ["openWorldHint", "reaches out"],
];

function Hints({ annotations }: { readonly annotations: ManifestTool["annotations"] }) {
  return HINT_WORDS.filter(([name]) => annotations?.[name] === true).map(([name, words]) => (
    <Badge key={name} tone={name === "destructiveHint" ? "danger" : "plain"}>
      {words}
    </Badge>
  ));
}
