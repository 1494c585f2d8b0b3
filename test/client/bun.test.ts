/** The client's own tests, and a call through a real Relay, on Bun. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { callTool, openRelay, textOf } from "../e2e/harness.ts";
import { SKIPPED, commandPath } from "./test-packages.ts";

const root = join(import.meta.dirname, "..", "..");
const CONDITIONS = "--conditions=relay-source";

function bun(...args: string[]): ReturnType<typeof spawn> & { readonly output: Promise<string> } {
  const child = spawn(commandPath("bun"), args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      text += String(chunk);
    });
  }
  const output = new Promise<string>((resolve) => {
    child.on("close", (code) => resolve(`${text}\nexit ${code}`));
  });
  return Object.assign(child, { output });
}

test("the client's tests pass on Bun", { skip: SKIPPED }, async (t) => {
  const output = await bun("test", CONDITIONS, "packages/client/src").output;
  const [summary = ""] = /\d+ pass[\s\S]*$/.exec(output) ?? [output];
  t.diagnostic(summary.replaceAll(/\s+/g, " "));
  assert.match(output, /\n 0 fail\n/, output.slice(-4_000));
  assert.match(output, /exit 0$/);
});

test("an app on Bun answers a call through a real Relay", { skip: SKIPPED }, async () => {
  await using server = await openRelay();
  const { publishableKey } = await server.project();
  const app = bun(CONDITIONS, "test/client/echo-app.ts", server.url, publishableKey);
  const mcpUrl = await new Promise<string>((resolve, reject) => {
    app.stdout?.on("data", (chunk) => resolve(String(chunk).trim()));
    void app.output.then((output) => reject(new Error(output)));
  });
  assert.equal(textOf(await callTool(mcpUrl, "echo", { text: "hi" })), "hi");
  app.kill();
  await app.output;
});
