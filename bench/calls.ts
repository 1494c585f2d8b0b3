/** Calls through Relay beside two others, in turns, from the same client process. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Job, Result, Target } from "./load.ts";
import { Child } from "./child.ts";

const LINKS = 128;
const ROUNDS = 5;
const ROUND_MS = 2_000;
const WARM_UP_MS = 1_500;

const TOOL = {
  name: "search_notes",
  description: "Full-text search of the person's notes",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, maxLength: 200 },
      limit: { type: "integer", minimum: 1, maximum: 100 },
    },
    required: ["query"],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
} as const;

const TOOLS = Array.from({ length: 6 }, (_, index) =>
  index === 0 ? TOOL : { ...TOOL, name: `tool_${index}` },
);

/** Prints calls/s and latency at 1 and 32 callers, with the ratio of each pair of rounds. */
export async function benchCalls(): Promise<void> {
  installClients();
  const dataDir = mkdtempSync(join(tmpdir(), "relay-bench-"));
  const load = new Child("bench/load.ts");
  const bare = new Child("bench/bare-relay.ts");
  const sdk = new Child("bench/sdk-server.ts");
  const relay = new Child("packages/server/src/main.ts", ["serve"], {
    RELAY_PORT: "0",
    RELAY_DATA_DIR: dataDir,
    RELAY_LOG_LEVEL: "warn",
    RELAY_LINKS_PER_IP_PER_MINUTE: "100000",
  });
  try {
    const contenders: readonly Contender[] = [
      { name: "relay", server: relay, targets: await relayTargets(relay, dataDir) },
      { name: "bare relay", server: bare, targets: await bareTargets(bare) },
      { name: "SDK server", server: sdk, targets: await sdkTargets(sdk) },
    ];
    console.log("\nCalls: Relay, a bare node:http + ws relay, the SDK's server called directly\n");
    for (const callers of [1, 32]) await compare(load, callers, contenders);
  } finally {
    for (const child of [load, bare, sdk, relay]) child.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The SDK comes with the official clients that tests use; they are installed where they are missing. */
function installClients(): void {
  const folder = join(import.meta.dirname, "..", "test", "clients");
  if (existsSync(join(folder, "node_modules"))) return;
  const { status } = spawnSync("npm", ["ci", "--prefix", folder], { stdio: "inherit" });
  if (status !== 0) throw new Error("the SDK to compare with could not be installed");
}

type Contender = {
  readonly name: string;
  readonly server: Child;
  readonly targets: readonly Target[];
};

/** What one round showed: what its callers saw, and what the server spent on a call. */
type Round = Result & { readonly cpuMicrosPerCall: number };

/** Runs the contenders in turns, so that a change of the machine's speed meets all of them. */
async function compare(
  load: Child,
  callers: number,
  contenders: readonly Contender[],
): Promise<void> {
  const run = async ({ targets, server }: Contender, milliseconds: number): Promise<Round> => {
    const before = await server.cpuSeconds();
    const result = await load.ask<Result>({ targets, callers, milliseconds } satisfies Job);
    const spent = (await server.cpuSeconds()) - before;
    const calls = (result.callsPerSecond * milliseconds) / 1000;
    return { ...result, cpuMicrosPerCall: (spent * 1e6) / calls };
  };
  for (const contender of contenders) await run(contender, WARM_UP_MS);
  const rounds: Round[][] = contenders.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, contender] of contenders.entries()) {
      rounds[index]?.push(await run(contender, ROUND_MS));
    }
  }
  const [ours = []] = rounds;
  for (const [index, { name }] of contenders.entries()) {
    const results = rounds[index] ?? [];
    const of = (read: (round: Round) => number): number => middle(results.map(read));
    const failures = results.reduce((sum, result) => sum + result.failures, 0);
    console.log(
      `  ${String(callers).padStart(2)} caller(s)  ${name.padEnd(10)}` +
        `  ${of((result) => result.callsPerSecond)
          .toFixed(0)
          .padStart(6)} calls/s` +
        `  p50 ${of((result) => result.p50Ms).toFixed(2)} ms` +
        `  p99 ${of((result) => result.p99Ms).toFixed(2)} ms` +
        `  ${of((round) => round.cpuMicrosPerCall).toFixed(0)} µs CPU/call` +
        (failures === 0 ? "" : `  ${failures} failed`) +
        (index === 0 ? "" : `  relay is ${ratioText(ours, results)}`),
    );
  }
  console.log();
}

/** The ratio of the rates, round by round: its middle, and from the least to the most. */
function ratioText(ours: readonly Result[], theirs: readonly Result[]): string {
  const ratios = ours.map(
    (result, round) => result.callsPerSecond / (theirs[round]?.callsPerSecond ?? 1),
  );
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  return `${middle(ratios).toFixed(2)} × (${least.toFixed(2)} to ${most.toFixed(2)})`;
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Makes links on a Relay that has just been started, one after the other. */
export async function relayTargets(
  relay: Child,
  dataDir: string,
  links: number = LINKS,
): Promise<Target[]> {
  const line = await relay.line((text) => text.includes("is running at"));
  const base = line.split(" ").at(-1) ?? "";
  const token = await relay.file(join(dataDir, "operator-token"));
  const project = await post(`${base}/v1/operator/projects`, token, {
    name: "Bench",
    callsPerMinute: 6_000,
  });
  const targets: Target[] = [];
  for (let index = 0; index < links; index += 1) {
    const link = await post(`${base}/v1/links`, String(project["publishableKey"]), {});
    const hello = {
      type: "hello",
      protocol: 1,
      token: link["linkToken"],
      app: { name: "Notes", version: "1" },
      tools: TOOLS,
    };
    targets.push({
      mcpUrl: String(link["mcpUrl"]).replace("localhost", "127.0.0.1"),
      socketUrl: String(link["socketUrl"]).replace("localhost", "127.0.0.1"),
      hello: JSON.stringify(hello),
    });
  }
  return targets;
}

async function bareTargets(bare: Child): Promise<Target[]> {
  const { port } = JSON.parse(await bare.line((text) => text.includes("port"))) as { port: number };
  return Array.from({ length: LINKS }, (_, index) => ({
    mcpUrl: `http://127.0.0.1:${port}/${index}`,
    socketUrl: `ws://127.0.0.1:${port}/${index}`,
    hello: null,
  }));
}

async function sdkTargets(sdk: Child): Promise<Target[]> {
  const { port } = JSON.parse(await sdk.line((text) => text.includes("port"))) as { port: number };
  return [{ mcpUrl: `http://127.0.0.1:${port}/mcp`, socketUrl: null, hello: null }];
}

async function post(url: string, key: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, unknown>;
}
