/** The client's examples, run as they stand, against a real Relay. The page's is in `browser.test.ts`. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import type { TestContext } from "node:test";
import { callTool, openRelay, textOf } from "../e2e/harness.ts";
import type { TestRelay } from "../e2e/harness.ts";
import { SKIPPED, commandPath } from "./test-packages.ts";

const root = join(import.meta.dirname, "..", "..");
const examples = join(root, "packages", "client", "examples");

let relay: TestRelay;
before(async () => {
  relay = await openRelay();
});
after(() => relay[Symbol.asyncDispose]());

async function folder(t: TestContext): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "relay-example-")));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

/** A running example: what it says, and how it ends. */
function run(
  t: TestContext,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let text = "";
  let hear = (): void => undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      text += String(chunk);
      hear();
    });
  }
  const ended = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      resolve(code);
      text += `\nended with ${code}\n`;
      hear();
    });
  });
  /** Resolves with what the pattern finds, once it is there. */
  const said = (what: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      hear = () => {
        const found = what.exec(text)?.[0];
        if (found !== undefined) resolve(found);
        else if (text.includes("\nended with")) reject(new Error(text));
      };
      hear();
    });
  const tell = (line: string): void => void child.stdin.write(`${line}\n`);
  return { child, said, tell, ended, text: () => text };
}

const MCP_URL = /http\S+\/v1\/mcp\/ut_\w{32}/;

test("the daemon: its tool is called, and its URL is the same when it starts again", async (t) => {
  const { publishableKey } = await relay.project();
  const home = await folder(t);
  const urls: string[] = [];
  for (const _ of ["the first time", "again"]) {
    const daemon = run(
      t,
      process.execPath,
      ["-C", "relay-source", join(examples, "daemon.ts"), publishableKey],
      { HOME: home, RELAY_PUBLIC_URL: relay.url },
    );
    const mcpUrl = await daemon.said(MCP_URL);
    const answer = await callTool(mcpUrl, "computer_status", {});
    assert.ok(answer.message["result"]?.structuredContent.memoryBytes.total > 0);
    const host = (...args: string[]): ReturnType<typeof run> =>
      run(
        t,
        process.execPath,
        ["-C", "relay-source", join(examples, "call-tool.ts"), mcpUrl, ...args],
        {},
      );
    await host().said(/computer_status {2}How busy/);
    await host("computer_status").said(/"memoryBytes"/);
    daemon.child.kill("SIGINT");
    assert.equal(await daemon.ended, 0, daemon.text());
    urls.push(mcpUrl);
  }
  assert.equal(urls[0], urls[1]);
});

test("Electron's main process: its link is encrypted, and it asks the person before it deletes", async (t) => {
  const { publishableKey } = await relay.project();
  const userData = await folder(t);
  const start = (): ReturnType<typeof run> =>
    run(
      t,
      process.execPath,
      [
        "-C",
        "relay-source",
        "--import",
        join(import.meta.dirname, "electron", "register.ts"),
        join(examples, "electron", "main.ts"),
      ],
      { USER_DATA: userData, RELAY_PUBLIC_URL: relay.url, PUBLISHABLE_KEY: publishableKey },
    );
  const first = start();
  const mcpUrl = await first.said(MCP_URL);
  const search = async (): Promise<string> =>
    textOf(await callTool(mcpUrl, "search_notes", { query: "tulips" }));
  assert.match(await search(), /Plant the tulips/);
  for (const [answer, outcome] of [
    ["Don't allow", /The person did not allow delete_notes to run\./],
    ["Allow", /Deleted 1\./],
  ] as const) {
    const dialogs = first.text().split("dialog:").length;
    const call = callTool(mcpUrl, "delete_notes", { query: "tulips" });
    await first.said(
      new RegExp(`(dialog: Let an AI host run delete_notes\\?[\\s\\S]*){${dialogs}}`),
    );
    first.tell(answer);
    assert.match(textOf(await call), outcome);
  }
  assert.equal(await search(), '{"found":[]}');
  const file = join(userData, "relay-link");
  assert.doesNotMatch(await readFile(file, "latin1"), /lt_|ut_|http/);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  first.tell("resume");
  first.tell("quit");
  assert.equal(await first.ended, 0, first.text());
  const second = start();
  assert.equal(await second.said(MCP_URL), mcpUrl);
  second.tell("quit");
  assert.equal(await second.ended, 0, second.text());
});

test(
  "the filesystem script: a host reads a file of the folder and nothing else",
  { skip: SKIPPED },
  async (t) => {
    const { publishableKey } = await relay.project();
    const home = await folder(t);
    await writeFile(join(home, "note.txt"), "Plant the tulips");
    // `npx -y` finds the server among the installed ones, as it would in the registry.
    const bin = await folder(t);
    await writeFile(
      join(bin, "npx"),
      `#!/bin/sh\n[ "$1 $2" = "-y @modelcontextprotocol/server-filesystem" ] || exit 9\nshift 2\nexec "${process.execPath}" "${commandPath("mcp-server-filesystem")}" "$@"\n`,
      { mode: 0o755 },
    );
    const script = run(t, "sh", [join(examples, "filesystem.sh"), publishableKey, home], {
      HOME: home,
      XDG_STATE_HOME: join(home, "state"),
      RELAY_PUBLIC_URL: relay.url,
      PATH: [bin, dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
      npm_config_update_notifier: "false",
    });
    const mcpUrl = await script.said(MCP_URL);
    const read = (path: string): ReturnType<typeof callTool> =>
      callTool(mcpUrl, "read_text_file", { path });
    assert.match(textOf(await read(join(home, "note.txt"))), /Plant the tulips/);
    assert.match(textOf(await read("/etc/passwd")), /denied/i);
    await script.said(/read_text_file done/);
    script.child.kill("SIGINT");
    await script.ended;
  },
);

test("the filesystem script says how it is used", async (t) => {
  const script = run(t, "sh", [join(examples, "filesystem.sh")], {});
  assert.equal(await script.ended, 2);
  assert.match(script.text(), /usage: .*PUBLISHABLE_KEY FOLDER/);
});
