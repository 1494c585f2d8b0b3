/** Calls through Relay beside calls through a bare relay, in turns, from the same client process. */
import { mkdtempSync, rmSync } from "node:fs";
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

/** Prints calls/s and latency at 1 and 32 callers, with the ratio of each pair of rounds. */
export async function benchCalls(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "relay-bench-"));
  const load = new Child("bench/load.ts");
  const bare = new Child("bench/bare-relay.ts");
  const relay = new Child("packages/server/src/main.ts", ["serve"], {
    RELAY_PORT: "0",
    RELAY_DATA_DIR: dataDir,
    RELAY_LOG_LEVEL: "warn",
    RELAY_LINKS_PER_IP_PER_MINUTE: "100000",
  });
  try {
    const ours = await relayTargets(relay, dataDir);
    const theirs = await bareTargets(bare);
    console.log("\nCalls through Relay and through a bare node:http + ws relay, in turns\n");
    for (const callers of [1, 32]) await compare(load, callers, ours, theirs);
  } finally {
    for (const child of [load, bare, relay]) child.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function compare(
  load: Child,
  callers: number,
  ours: readonly Target[],
  theirs: readonly Target[],
): Promise<void> {
  const run = (targets: readonly Target[], milliseconds: number): Promise<Result> =>
    load.ask<Result>({ targets, callers, milliseconds } satisfies Job);
  await run(ours, WARM_UP_MS);
  await run(theirs, WARM_UP_MS);
  const pairs: (readonly [Result, Result])[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    pairs.push([await run(ours, ROUND_MS), await run(theirs, ROUND_MS)]);
  }
  const middle = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  const show = (name: string, results: readonly Result[]): void => {
    const rate = middle(results.map((result) => result.callsPerSecond)).toFixed(0);
    const p50 = middle(results.map((result) => result.p50Ms)).toFixed(2);
    const p99 = middle(results.map((result) => result.p99Ms)).toFixed(2);
    const failures = results.reduce((sum, result) => sum + result.failures, 0);
    console.log(
      `  ${callers} caller(s)  ${name}  ${rate} calls/s  p50 ${p50} ms  p99 ${p99} ms  failures ${failures}`,
    );
  };
  show(
    "relay",
    pairs.map(([mine]) => mine),
  );
  show(
    "bare ",
    pairs.map(([, bare]) => bare),
  );
  const ratios = pairs.map(([mine, bare]) => mine.callsPerSecond / bare.callsPerSecond);
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  console.log(
    `  ${callers} caller(s)  ratio  ${middle(ratios).toFixed(2)} × (${least.toFixed(2)} to ${most.toFixed(2)})\n`,
  );
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
      tools: [TOOL],
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

async function post(url: string, key: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, unknown>;
}
