import table from "./hosts.json" with { type: "json" };

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
};

type Row = {
  readonly id: string;
  readonly name: string;
  readonly steps?: string;
  readonly command?: string;
  readonly link?: string;
  /** What `{json}`, `{base64}` and `{encoded}` stand for. */
  readonly config?: Readonly<Record<string, string>>;
};

/** The ways into each host of `hosts.json`, for an app's name and MCP URL. */
export function hostWays(appName: string, mcpUrl: string): readonly HostWay[] {
  const name = appName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  const rows: readonly Row[] = table;
  return rows.map((row) => {
    const config = Object.fromEntries(
      Object.entries(row.config ?? {}).map(([key, value]) => [
        key,
        value.replace("{name}", appName).replace("{url}", mcpUrl),
      ]),
    );
    const json = JSON.stringify(config);
    const fill = (text: string | undefined): string | null =>
      text
        ?.replace("{name}", name || "app")
        .replace("{url}", mcpUrl)
        // A quote would end the shell's.
        .replace("{json}", json.replaceAll("'", "'\\''"))
        .replace("{base64}", encodeURIComponent(base64Of(json)))
        .replace("{encoded}", encodeURIComponent(json)) ?? null;
    return {
      id: row.id,
      name: row.name,
      steps: row.steps ?? null,
      command: fill(row.command),
      link: fill(row.link),
    };
  });
}

function base64Of(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
