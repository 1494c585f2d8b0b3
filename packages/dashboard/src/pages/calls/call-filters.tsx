import { OUTCOME_NAMES } from "@relay/protocol";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { clientsQuery } from "../../api/project-queries.ts";
import type { CallFilter } from "../../api/project-queries.ts";
import { Button } from "../../ui/button.tsx";
import { INPUT_CLASSES, Select } from "../../ui/field.tsx";
import { shortId } from "../../ui/format.ts";
import { SPANS } from "./span.ts";

/** What the address of the page says. */
export type Search = CallFilter & {
  readonly span?: string | undefined;
  readonly view?: string | undefined;
};

type FiltersProps = {
  readonly projectId: string;
  /** Hosts that called since then are offered. */
  readonly from: string;
  readonly search: Search;
  readonly onChange: (change: Search) => void;
};

const ANY_OUTCOME = { value: "", label: "Any outcome" };
const COUNTED = [
  { value: "", label: "Counted or not" },
  { value: "true", label: "Counted" },
  { value: "false", label: "Not counted" },
];
const NONE = {
  outcome: undefined,
  counted: undefined,
  linkId: undefined,
  tool: undefined,
  client: undefined,
} as const satisfies CallFilter;

/** Which calls are shown: of the list and of the live tail. */
export function CallFilters({ projectId, from, search, onChange }: FiltersProps) {
  const [tool, setTool] = useState(search.tool ?? "");
  const { outcome, counted, linkId, client } = search;
  const isFiltered = [outcome, counted, linkId, search.tool, client].some(
    (value) => value !== undefined,
  );
  return (
    <form
      role="search"
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onChange({ tool: given(tool.trim()) });
      }}
    >
      <Selects projectId={projectId} from={from} search={search} onChange={onChange} />
      <input
        aria-label="Tool, by its whole name"
        placeholder="Tool, whole name"
        dir="auto"
        maxLength={64}
        value={tool}
        onChange={(event) => setTool(event.target.value)}
        onBlur={() => onChange({ tool: given(tool.trim()) })}
        className={`${INPUT_CLASSES} max-w-48`}
      />
      {linkId === undefined ? null : (
        <Button onClick={() => onChange({ linkId: undefined })}>
          Link <code>{shortId(linkId)}</code> <span aria-hidden>✕</span>
          <span className="sr-only">Show all links</span>
        </Button>
      )}
      {isFiltered ? (
        <Button
          kind="quiet"
          onClick={() => {
            setTool("");
            onChange(NONE);
          }}
        >
          Clear the filters
        </Button>
      ) : null}
    </form>
  );
}

function Selects({ projectId, from, search, onChange }: FiltersProps) {
  return (
    <>
      <Select
        aria-label="Time"
        value={search.span ?? SPANS[0].value}
        onValue={(span) => onChange({ span })}
        options={SPANS}
      />
      <Select
        aria-label="Outcome"
        value={search.outcome ?? ""}
        onValue={(outcome) => onChange({ outcome: given(outcome) })}
        options={[ANY_OUTCOME, ...OUTCOME_NAMES.map((name) => ({ value: name, label: name }))]}
      />
      <Select
        aria-label="Counted"
        value={search.counted ?? ""}
        onValue={(counted) => onChange({ counted: given(counted) })}
        options={COUNTED}
      />
      <HostSelect
        projectId={projectId}
        from={from}
        client={search.client}
        onClient={(client) => onChange({ client })}
      />
    </>
  );
}

/** Hosts by the names they gave; one that no call has any more stays while it is chosen. */
function HostSelect({
  projectId,
  from,
  client,
  onClient,
}: {
  readonly projectId: string;
  readonly from: string;
  readonly client: string | undefined;
  readonly onClient: (client: string | undefined) => void;
}) {
  // Without them the list is as good, so a failure is not worth a word.
  const seen = useQuery({ ...clientsQuery(projectId, from), placeholderData: keepPreviousData });
  const names = (seen.data?.items ?? []).map(({ name }) => name).filter((name) => name !== "");
  const offered = client === undefined || names.includes(client) ? names : [client, ...names];
  return (
    <Select
      aria-label="Host"
      className="max-w-60"
      value={client ?? ""}
      onValue={(name) => onClient(given(name))}
      options={[
        { value: "", label: "Any host" },
        ...offered.map((name) => ({ value: name, label: name })),
      ]}
    />
  );
}

function given(text: string): string | undefined {
  return text === "" ? undefined : text;
}
