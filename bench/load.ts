/**
 * The client side of a measurement, a process of its own: it holds the apps' sockets and the
 * callers, so that two servers are measured from the same place. Reads one `Job` a line from stdin
 * and writes one `Result` a line to stdout.
 */
import { createInterface } from "node:readline";
import { WebSocket } from "ws";
import { RawCaller, requestText } from "./raw-caller.ts";

export type Target = {
  readonly mcpUrl: string;
  /** Where the app connects; null for a server that needs none. */
  readonly socketUrl: string | null;
  /** The app's first frame, and whether the server answers it. */
  readonly hello: string | null;
};

export type Job = {
  readonly targets: readonly Target[];
  readonly callers: number;
  readonly milliseconds: number;
};

export type Result = {
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failures: number;
};

const CALL = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "search_notes", arguments: { query: "invoices", limit: 10 } },
});
const HEADERS = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
} as const;

const connected = new Set<string>();

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line) as Job;
  await Promise.all(job.targets.map(connect));
  console.log(JSON.stringify(await run(job)));
}
process.exit(0);

/** Connects the app of a target once; it stays for later jobs. */
async function connect(target: Target): Promise<void> {
  const { socketUrl, hello } = target;
  if (socketUrl === null || connected.has(socketUrl + hello)) return;
  connected.add(socketUrl + hello);
  const socket = new WebSocket(socketUrl, { perMessageDeflate: false });
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("open", () => {
      if (hello === null) resolve();
      else socket.send(hello);
    });
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as { type: string; id: string };
      if (frame.type === "ready") resolve();
      if (frame.type !== "call") return;
      socket.send(
        `{"type":"result","id":"${frame.id}","content":[{"type":"text","text":"3 notes match: Q3 invoices, Invoice template, Unpaid invoices."}]}`,
      );
    });
  });
}

async function run(job: Job): Promise<Result> {
  const requests = job.targets.map(({ mcpUrl }) => requestText(new URL(mcpUrl), HEADERS, CALL));
  const [first] = job.targets;
  if (first === undefined) throw new Error("a job without targets");
  const callers = Array.from({ length: job.callers }, () => new RawCaller(new URL(first.mcpUrl)));
  const times: number[] = [];
  let failures = 0;
  const startedAt = performance.now();
  const until = startedAt + job.milliseconds;
  const loop = async (caller: RawCaller, offset: number): Promise<void> => {
    for (let turn = offset; performance.now() < until; turn += job.callers) {
      const began = performance.now();
      const text = await caller.call(requests[turn % requests.length] ?? "");
      times.push(performance.now() - began);
      if (!text.includes("3 notes match")) failures += 1;
    }
  };
  await Promise.all(callers.map(loop));
  const seconds = (performance.now() - startedAt) / 1000;
  for (const caller of callers) caller.close();
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
  return { callsPerSecond: times.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), failures };
}
