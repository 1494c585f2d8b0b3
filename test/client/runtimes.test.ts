/** The client's own tests, and a call through a real Relay, on the runtimes that are not Node. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { callTool, openRelay, textOf } from "../e2e/harness.ts";
import { SKIPPED, commandPath } from "./test-packages.ts";

const root = join(import.meta.dirname, "..", "..");
const CONDITIONS = "--conditions=relay-source";
/** Everything is allowed, and what npm has installed is used as it is. */
const DENO_FLAGS = ["-A", CONDITIONS, "--node-modules-dir=manual", "--no-config", "--no-lock"];

type Runtime = {
  readonly command: string;
  readonly test: readonly string[];
  readonly run: readonly string[];
  /** What the output of tests that all pass holds; its first group is how many. */
  readonly passed: RegExp;
};

const RUNTIMES: Readonly<Record<string, Runtime>> = {
  Bun: {
    command: "bun",
    test: ["test", CONDITIONS],
    run: [CONDITIONS],
    passed: /\n *(\d+) pass\n(?: *\d+ skip\n)? *0 fail\n/,
  },
  Deno: {
    command: "deno",
    test: ["test", "--no-check", ...DENO_FLAGS],
    run: ["run", ...DENO_FLAGS],
    passed: /\nok \| (\d+) passed \| 0 failed/,
  },
};

function start(command: string, args: readonly string[]) {
  const env = { ...process.env, NO_COLOR: "1" };
  const child = spawn(commandPath(command), args, {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      text += String(chunk);
    });
  }
  const output = new Promise<string>((resolve) => {
    child.on("close", (code) => resolve(`${text}\nexit ${code}`));
  });
  return { child, output };
}

for (const [name, runtime] of Object.entries(RUNTIMES)) {
  const { command } = runtime;
  const skip =
    SKIPPED || (existsSync(commandPath(command)) ? false : `${name} is not installed here`);

  test(`the client's tests pass on ${name}`, { skip }, async (t) => {
    const output = await start(command, [...runtime.test, "packages/client/src"]).output;
    const [, count = "0"] = runtime.passed.exec(output) ?? [];
    t.diagnostic(`${count} tests on ${name}`);
    assert.ok(Number(count) > 200, output.slice(-4_000));
    assert.match(output, /exit 0$/);
  });

  test(`an app on ${name} answers a call through a real Relay`, { skip }, async () => {
    await using server = await openRelay();
    const { publishableKey } = await server.project();
    const app = start(command, [
      ...runtime.run,
      "test/client/echo-app.ts",
      server.url,
      publishableKey,
    ]);
    const mcpUrl = await new Promise<string>((resolve, reject) => {
      app.child.stdout.on("data", (chunk) => resolve(String(chunk).trim()));
      void app.output.then((output) => reject(new Error(output)));
    });
    assert.equal(textOf(await callTool(mcpUrl, "echo", { text: "hi" })), "hi");
    app.child.kill();
    await app.output;
  });
}
