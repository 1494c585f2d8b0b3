import { useQuery } from "@tanstack/react-query";
import { linkQuery } from "../../api/project-queries.ts";
import type { Link } from "../../api/shapes.ts";
import { Badge, LinkStateLabel } from "../../ui/badge.tsx";
import { Drawer } from "../../ui/dialog.tsx";
import { FailureNote, Loading } from "../../ui/notice.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { HostPanel } from "./host-panel.tsx";
import { LinkCalls } from "./link-calls.tsx";
import { LinkOverview } from "./link-overview.tsx";
import { LinkSockets } from "./link-sockets.tsx";
import { LinkTools } from "./link-tools.tsx";

type DrawerProps = {
  readonly projectId: string;
  readonly linkId: string;
  readonly tab: string;
  readonly onTab: (tab: string) => void;
  readonly onClose: () => void;
};

/** All there is to know and to do about one link. */
export function LinkDrawer({ projectId, linkId, tab, onTab, onClose }: DrawerProps) {
  const query = useQuery(linkQuery(projectId, linkId));
  const link = query.data;
  return (
    <Drawer
      open
      onClose={onClose}
      title={link === undefined ? "Link" : (link.label ?? "Link without a label")}
      note={
        link === undefined ? undefined : (
          <span className="mt-1 flex flex-wrap items-center gap-3">
            <LinkStateLabel link={link} />
            {link.trial === true ? <Badge tone="info">trial</Badge> : null}
            <code className="text-xs break-all">{link.linkId}</code>
          </span>
        )
      }
    >
      {query.error !== null ? (
        <FailureNote failure={query.error} onRetry={() => void query.refetch()} />
      ) : link === undefined ? (
        <Loading lines={6} />
      ) : (
        <DrawerTabs projectId={projectId} link={link} tab={tab} onTab={onTab} />
      )}
    </Drawer>
  );
}

function DrawerTabs({
  projectId,
  link,
  tab,
  onTab,
}: Pick<DrawerProps, "projectId" | "tab" | "onTab"> & { readonly link: Link }) {
  return (
    <Tabs
      label="About this link"
      value={tab}
      onValue={onTab}
      tabs={[
        {
          value: "overview",
          label: "Overview",
          panel: () => <LinkOverview projectId={projectId} link={link} />,
        },
        {
          value: "tools",
          label: `Tools (${link.tools})`,
          panel: () => <LinkTools projectId={projectId} link={link} />,
        },
        {
          value: "sockets",
          label: "Sockets",
          panel: () => <LinkSockets projectId={projectId} linkId={link.linkId} />,
        },
        {
          value: "calls",
          label: "Calls",
          panel: () => <LinkCalls projectId={projectId} linkId={link.linkId} />,
        },
        { value: "host", label: "Connect a host", panel: () => <HostPanel link={link} /> },
      ]}
    />
  );
}
