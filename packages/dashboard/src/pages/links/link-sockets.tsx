import { useQuery } from "@tanstack/react-query";
import { historyQuery } from "../../api/project-queries.ts";
import type { LinkHistory } from "../../api/shapes.ts";
import { Badge } from "../../ui/badge.tsx";
import { duration, fullTime } from "../../ui/format.ts";
import { Empty, FailureNote, Loading } from "../../ui/notice.tsx";
import { closeWords, isUsualClose } from "./close-words.ts";

/** The link's last 20 sockets and how each ended, then how its tools changed. */
export function LinkSockets({
  projectId,
  linkId,
}: {
  readonly projectId: string;
  readonly linkId: string;
}) {
  const history = useQuery(historyQuery(projectId, linkId));
  if (history.error !== null) {
    return <FailureNote failure={history.error} onRetry={() => void history.refetch()} />;
  }
  if (history.data === undefined) return <Loading />;
  const { sockets, manifests } = history.data;
  if (sockets.length === 0) {
    return <Empty title="No socket yet">The app has not connected with this link.</Empty>;
  }
  return (
    <div className="flex flex-col gap-6">
      <section>
        <h3 className="mb-2 font-semibold">Last sockets</h3>
        <ol className="flex flex-col">
          {sockets.map((socket) => (
            <SocketLine key={socket.connectedAt} socket={socket} />
          ))}
        </ol>
      </section>
      {manifests.length === 0 ? null : (
        <section>
          <h3 className="mb-2 font-semibold">Changes of its tools</h3>
          <ol className="flex flex-col">
            {manifests.map((change) => (
              <ChangeLine key={`${change.at} ${change.hash}`} change={change} />
            ))}
          </ol>
        </section>
      )}
    </div>
  );
}

function SocketLine({ socket }: { readonly socket: LinkHistory["sockets"][number] }) {
  const { connectedAt, disconnectedAt, durationMs, closeCode, closeReason, app } = socket;
  const isOpen = disconnectedAt === null;
  return (
    <li className="flex flex-col gap-1 border-b border-line py-3 text-sm last:border-b-0">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span>{fullTime(connectedAt)}</span>
        {isOpen ? (
          <Badge tone="good">open</Badge>
        ) : (
          <span className="flex items-center gap-2">
            <span className="text-quiet tabular-nums">
              {durationMs === null ? "" : duration(durationMs)}
            </span>
            <Badge tone={isUsualClose(closeCode) ? "plain" : "warn"}>
              {closeCode ?? "no code"}
            </Badge>
          </span>
        )}
      </div>
      <p className="text-quiet">
        <bdi>
          {app.name} {app.version}
        </bdi>
        {isOpen ? "" : `. ${closeWords(closeCode)}`}
        {closeReason === null || closeReason === "" ? null : (
          <>
            {" "}
            Reason: <bdi className="break-words">{closeReason}</bdi>
          </>
        )}
      </p>
    </li>
  );
}

function ChangeLine({ change }: { readonly change: LinkHistory["manifests"][number] }) {
  const { at, added, removed, changed } = change;
  const parts = [
    { words: "added", names: added },
    { words: "removed", names: removed },
    { words: "changed", names: changed },
  ].filter(({ names }) => names.length > 0);
  return (
    <li className="border-b border-line py-3 text-sm last:border-b-0">
      <p>{fullTime(at)}</p>
      {parts.length === 0 ? (
        <p className="text-quiet">The app’s name, version or instructions changed.</p>
      ) : (
        parts.map(({ words, names }) => (
          <p key={words} className="break-words text-quiet">
            {words}: <code>{names.join(", ")}</code>
          </p>
        ))
      )}
    </li>
  );
}
