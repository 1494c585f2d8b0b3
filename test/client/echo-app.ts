/** An app for any runtime: `echo-app.ts RELAY_URL PUBLISHABLE_KEY` prints its MCP URL once online. */
import process from "node:process";
import { createRelay, memoryStore, tool } from "@relay/client";

const [, , relayUrl = "", publishableKey = ""] = process.argv;

const echo = tool("echo", {
  description: "Says it again",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: ({ text }) => text,
});

const relay = createRelay({
  relayUrl,
  publishableKey,
  app: { name: "Echo", version: "1.0.0" },
  tools: [echo],
  store: memoryStore(),
});
await relay.start();
process.stdout.write(`${relay.mcpUrl}\n`);
