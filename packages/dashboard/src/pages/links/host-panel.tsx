import { hostWays } from "../../../../client/src/hosts.ts";
import type { HostWay } from "../../../../client/src/hosts.ts";
import { useFeatures } from "../../api/session.ts";
import type { Link } from "../../api/shapes.ts";
import { buttonClasses } from "../../ui/button.tsx";
import { CodeBlock, CopyLine } from "../../ui/copy.tsx";
import { jsonLines } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";
import { useKnownLink } from "./known-urls.ts";
import { QrCode } from "./qr-code.tsx";

/** How a person gives the link's URL to each host, where this page was shown the URL. */
export function HostPanel({ link }: { readonly link: Link }) {
  const known = useKnownLink(link.linkId);
  if (known === null) return <OnlyTheApp link={link} />;
  return <HostWays appName={link.app?.name ?? link.label ?? "app"} mcpUrl={known.mcpUrl} />;
}

function OnlyTheApp({ link }: { readonly link: Link }) {
  return (
    <div className="flex flex-col gap-4 text-sm">
      <Notice tone="info" title="Only the app has this link’s URL">
        The URL is the person’s credential: whoever has it can call the app. Relay keeps a hash of
        it and can’t show it. The app shows it to its person.
      </Notice>
      <p className="text-quiet">
        {link.trial === true
          ? "This trial link was made in an earlier visit. Rotate it, in the overview, and its new URL is shown here."
          : "Links that were made with a secret key get a new URL shown here when they are rotated in the overview; so do trial links."}
      </p>
    </div>
  );
}

/** Every host's own way in; links of their own schemes only, since the URL in them is a secret. */
export function HostWays({
  appName,
  mcpUrl,
}: {
  readonly appName: string;
  readonly mcpUrl: string;
}) {
  const features = useFeatures();
  const isLocal = features?.mcpPublicUrl.startsWith("https:") !== true;
  return (
    <div className="flex flex-col gap-5">
      {isLocal ? (
        <Notice tone="warn">
          This Relay has no https address, so only hosts on this very machine reach it: Claude Code,
          Cursor, VS Code. Claude and ChatGPT need a public https address.
        </Notice>
      ) : null}
      <CopyLine title="MCP URL: treat it like a password" text={mcpUrl} />
      <ul className="flex flex-col gap-4">
        {hostWays(appName, mcpUrl).map((way) => (
          <Way key={way.id} way={way} />
        ))}
        <li className="flex flex-col gap-2">
          <h3 className="font-semibold">Any other, by its mcp.json</h3>
          <CodeBlock
            title="mcp.json"
            code={jsonLines({ mcpServers: { [appName]: { url: mcpUrl } } })}
          />
        </li>
        <li className="flex flex-col gap-2">
          <h3 className="font-semibold">On a phone</h3>
          <p className="text-sm text-quiet">Drawn here, by no service. It holds the URL.</p>
          <QrCode text={mcpUrl} />
        </li>
      </ul>
    </div>
  );
}

function Way({ way }: { readonly way: HostWay }) {
  return (
    <li className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="font-semibold">{way.name}</h3>
        {way.link === null ? null : (
          <a href={way.link} className={buttonClasses("secondary", true)}>
            Open in {way.name}
          </a>
        )}
      </div>
      {way.steps === null ? null : <p className="text-sm text-quiet">{way.steps}</p>}
      {way.command === null ? null : <CodeBlock title="In a terminal" code={way.command} wrap />}
    </li>
  );
}
