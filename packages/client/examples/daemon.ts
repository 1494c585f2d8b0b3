/**
 * A daemon that tells an AI host about the computer it runs on. Its link is in a file, so the MCP URL
 * stays the same from one start to the next. `node -C relay-source daemon.ts PUBLISHABLE_KEY`
 */
import { availableParallelism, freemem, hostname, loadavg, totalmem, uptime } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createRelay, fileStore, tool } from "@relay/client/node";

const { RELAY_PUBLIC_URL: relayUrl = "http://localhost:8787", HOME = "." } = process.env;
const [, , publishableKey = ""] = process.argv;

const computerStatus = tool("computer_status", {
  description: "How busy this computer is: its load, memory and uptime",
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
  run: () => ({
    name: hostname(),
    processors: availableParallelism(),
    load: loadavg(),
    memoryBytes: { free: freemem(), total: totalmem() },
    uptimeSeconds: uptime(),
  }),
});

const relay = createRelay({
  relayUrl,
  publishableKey,
  app: { name: "Computer", version: "1.0.0" },
  tools: [computerStatus],
  store: fileStore(join(HOME, ".computer-relay.json")),
  label: hostname(),
});
relay.on("state", (state) => {
  const why = "reason" in state ? `: ${state.reason.message}` : "";
  process.stderr.write(`${state.status}${why}\n`);
});
relay.on("call", ({ tool: name, status }) => process.stderr.write(`${name} ${status}\n`));
process.once("SIGINT", () => relay.stop());
await relay.start();
process.stdout.write(`${relay.mcpUrl}\n`);
