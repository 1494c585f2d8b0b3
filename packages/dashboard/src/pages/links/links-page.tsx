import { useInfiniteQuery } from "@tanstack/react-query";
import { Link as RouteLink, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { linksQuery } from "../../api/project-queries.ts";
import type { Link } from "../../api/shapes.ts";
import { Badge, LinkStateLabel } from "../../ui/badge.tsx";
import { buttonClasses } from "../../ui/button.tsx";
import { Card, PageHead } from "../../ui/card.tsx";
import { INPUT_CLASSES, Select } from "../../ui/field.tsx";
import { plural, shortId } from "../../ui/format.ts";
import { Empty, FailureNote, Loading } from "../../ui/notice.tsx";
import { Cell, More, Row, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { LinkDrawer } from "./link-drawer.tsx";
import { useLiveLinks } from "./live-links.ts";

const STATES = [
  { value: "", label: "All live links" },
  { value: "online", label: "Online" },
  { value: "offline", label: "Offline" },
  { value: "paused", label: "Paused" },
  { value: "never", label: "Never connected" },
  { value: "revoked", label: "Revoked" },
];
const WHOSE = [
  { value: "", label: "People’s and trial links" },
  { value: "false", label: "People’s links" },
  { value: "true", label: "Trial links" },
];
const SORTS = [
  { value: "-lastSeenAt", label: "Seen last first" },
  { value: "lastSeenAt", label: "Seen longest ago first" },
  { value: "-createdAt", label: "Newest first" },
  { value: "createdAt", label: "Oldest first" },
  { value: "label", label: "By label" },
];
const DEFAULT_SORT = "-lastSeenAt";
const TYPING_MS = 250;

type Search = {
  readonly label?: string | undefined;
  readonly state?: string | undefined;
  readonly trial?: string | undefined;
  readonly sort?: string | undefined;
  readonly link?: string | undefined;
  readonly tab?: string | undefined;
};

/** Everybody's link with the app, as it is right now. */
export function LinksPage() {
  const { projectId } = useParams({ from: "/app/projects/$projectId/links" });
  const search = useSearch({ from: "/app/projects/$projectId/links" });
  const navigate = useNavigate({ from: "/projects/$projectId/links" });
  const set = (change: Search, replace = true): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace });
  const live = useLiveLinks(projectId);
  return (
    <>
      <PageHead
        title="Links"
        note={`One for each person: their app on one side, their AI hosts on the other. ${
          live === "live" ? "States are live." : "Connecting for live states…"
        }`}
      />
      <div className="mb-4 flex flex-wrap gap-2">
        <SearchBox value={search.label ?? ""} onValue={(label) => set({ label })} />
        <Select
          aria-label="State"
          value={search.state ?? ""}
          onValue={(state) => set({ state: state === "" ? undefined : state })}
          options={STATES}
        />
        <Select
          aria-label="Whose"
          value={search.trial ?? ""}
          onValue={(trial) => set({ trial: trial === "" ? undefined : trial })}
          options={WHOSE}
        />
        <Select
          aria-label="Order"
          value={search.sort ?? DEFAULT_SORT}
          onValue={(sort) => set({ sort })}
          options={SORTS}
        />
      </div>
      <LinkList
        projectId={projectId}
        search={search}
        onOpen={(link) => set({ link, tab: undefined }, false)}
      />
      {search.link === undefined ? null : (
        <LinkDrawer
          key={search.link}
          projectId={projectId}
          linkId={search.link}
          tab={search.tab ?? "overview"}
          onTab={(tab) => set({ tab })}
          onClose={() => set({ link: undefined, tab: undefined })}
        />
      )}
    </>
  );
}

/** Searches once the typing rests, so that 10,000 links are not asked for at each letter. */
function SearchBox({
  value,
  onValue,
}: {
  readonly value: string;
  readonly onValue: (value: string | undefined) => void;
}) {
  const [text, setText] = useState(value);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onValue(text === "" ? undefined : text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value, onValue]);
  return (
    <input
      type="search"
      aria-label="Search labels"
      placeholder="Search labels"
      dir="auto"
      maxLength={64}
      value={text}
      onChange={(event) => setText(event.target.value)}
      className={`${INPUT_CLASSES} max-w-72`}
    />
  );
}

function LinkList({
  projectId,
  search,
  onOpen,
}: {
  readonly projectId: string;
  readonly search: Search;
  readonly onOpen: (linkId: string) => void;
}) {
  const { label, state, trial, sort = DEFAULT_SORT } = search;
  const query = useInfiniteQuery(linksQuery(projectId, { label, state, trial, sort }));
  if (query.error !== null) {
    return <FailureNote failure={query.error} onRetry={() => void query.refetch()} />;
  }
  if (query.data === undefined) return <Loading lines={8} />;
  const links = query.data.pages.flatMap((page) => page.items);
  const isFiltered = [label, state, trial].some((value) => value !== undefined);
  return (
    <Card flush>
      {links.length > 0 ? (
        <LinkTable links={links} onOpen={onOpen} />
      ) : isFiltered ? (
        <Empty title={query.hasNextPage ? "None so far; look further" : "No link fits"}>
          Labels are searched by any part of them, in upper or lower case.
        </Empty>
      ) : (
        <Empty
          title="No links yet"
          action={
            <RouteLink
              to="/projects/$projectId/start"
              params={{ projectId }}
              className={buttonClasses("primary")}
            >
              Connect your app
            </RouteLink>
          }
        >
          Your app makes one for each person, with the publishable key.
        </Empty>
      )}
      <More query={query} />
    </Card>
  );
}

function LinkTable({
  links,
  onOpen,
}: {
  readonly links: readonly Link[];
  readonly onOpen: (linkId: string) => void;
}) {
  return (
    <Table
      caption="Links"
      columns={[
        { name: "Link" },
        { name: "State" },
        { name: "App" },
        { name: "Last host", wideOnly: true },
        { name: "Tools", end: true, wideOnly: true },
        { name: "Seen" },
        { name: "Last call", wideOnly: true },
      ]}
    >
      {links.map((link) => (
        <Row key={link.linkId}>
          <Cell className="max-w-40 sm:max-w-64">
            <button
              type="button"
              onClick={() => onOpen(link.linkId)}
              className="block max-w-full text-left hover:underline"
            >
              <span dir="auto" className="block truncate font-medium">
                {link.label ?? <span className="font-normal text-quiet">No label</span>}
              </span>
              <code className="block text-xs text-quiet">{shortId(link.linkId)}</code>
            </button>
          </Cell>
          <Cell>
            <LinkStateLabel link={link} />
          </Cell>
          <Cell className="max-w-44 truncate" dir="auto">
            {link.app === null ? (
              <span className="text-quiet">none yet</span>
            ) : (
              <>
                {link.app.name} <span className="text-quiet">{link.app.version}</span>
              </>
            )}
          </Cell>
          <Cell wideOnly className="max-w-40 truncate" dir="auto">
            {link.client?.name ?? <span className="text-quiet">none yet</span>}
          </Cell>
          <Cell end wideOnly>
            <span className="inline-flex items-center gap-2">
              {link.trial === true ? <Badge tone="info">trial</Badge> : null}
              {link.warnings.length > 0 ? (
                <Badge tone="warn">{plural(link.warnings.length, "warning")}</Badge>
              ) : null}
              {link.tools}
            </span>
          </Cell>
          <Cell>
            <Ago at={link.lastSeenAt} />
          </Cell>
          <Cell wideOnly>
            <Ago at={link.lastCallAt} />
          </Cell>
        </Row>
      ))}
    </Table>
  );
}
