import table from "./hosts.json" with { type: "json" };
import { reachOf } from "./reach.ts";

/** How a person gives an MCP URL to one AI host: whichever of the three ways the host has. */
export type HostWay = {
  readonly id: string;
  readonly name: string;
  /** What to click, for a person. */
  readonly steps: string | null;
  /** A line for a shell. */
  readonly command: string | null;
  /** A link of the host's own scheme, which leads through nobody else: the URL is a credential. */
  readonly link: string | null;
  /** Whether the host can reach the URL at all, by what its address says. */
  readonly reaches: boolean;
};

type Row = {
  readonly id: string;
  readonly name: string;
  /** Where the host calls from: its maker's servers, or the person's own device. */
  readonly runs: string;
  readonly steps?: string;
  readonly command?: string;
  readonly link?: string;
  /** What `{json}`, `{base64}` and `{encoded}` stand for. */
  readonly config?: Readonly<Record<string, string>>;
};

/** The ways into each host of `hosts.json`, for an app's name and MCP URL. */
export function hostWays(appName: string, mcpUrl: string): readonly HostWay[] {
  const rows: readonly Row[] = table;
  return rows.map((row) => {
    const config = Object.fromEntries(
      Object.entries(row.config ?? {}).map(([key, text]) => [
        key,
        filled(text, { name: appName, url: mcpUrl }),
      ]),
    );
    const json = JSON.stringify(config);
    const values = {
      name: handleOf(appName),
      url: mcpUrl,
      // A quote would end the shell's.
      json: json.replaceAll("'", () => "'\\''"),
      base64: encodeURIComponent(base64Of(json)),
      encoded: encodeURIComponent(json),
    };
    return {
      id: row.id,
      name: row.name,
      steps: row.steps ?? null,
      command: row.command === undefined ? null : filled(row.command, values),
      link: row.link === undefined ? null : filled(row.link, values),
      reaches: row.runs === "device" || reachOf(mcpUrl) === "internet",
    };
  });
}

/** An app's name as one that every host and shell takes. */
function handleOf(appName: string): string {
  // Accents go, their letters stay.
  const plain = appName.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  const letters = plain.replaceAll(/[^a-z0-9]+/g, "-");
  return letters.replaceAll(/^-|-$/g, "") || "app";
}

/** Puts values in place of their names in braces, once: a value may hold braces itself. */
function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole);
}

function base64Of(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
