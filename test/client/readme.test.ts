/** The code that the client's README shows, run as it stands there. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { callTool, openRelay, post, textOf } from "../e2e/harness.ts";

const folder = join(import.meta.dirname, "..", "..", "packages", "client");
const readme = await readFile(join(folder, "README.md"), "utf8");

/** The block of code under a heading. */
function codeUnder(heading: string): string {
  const [, section = ""] = readme.split(`\n${heading}\n`);
  const [, code] = /```ts\n([\s\S]*?)```/.exec(section) ?? [];
  assert.ok(code, `there is no code under ${heading}`);
  return code;
}

/** Puts what a reader would fill in where the README has a stand-in; every one must be there. */
function filled(code: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((text, [standIn, value]) => {
    assert.ok(text.includes(standIn), `the code has no ${standIn}`);
    return text.replace(standIn, value);
  }, code);
}

/** Runs TypeScript as a file of the client's folder. */
function run(code: string): ReturnType<typeof spawn> & { readonly line: Promise<string> } {
  const flags = ["-C", "relay-source", "--input-type=module-typescript", "-e", code];
  const child = spawn(process.execPath, flags, {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += String(chunk);
  });
  const line = new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk) => resolve(String(chunk)));
    child.on("close", (code_) => reject(new Error(`exit ${code_}: ${errors}`)));
  });
  return Object.assign(child, { line });
}

test("the app of the README is called, and has the same URL when it starts again", async (t) => {
  await using relay = await openRelay();
  const { publishableKey } = await relay.project();
  const place = await mkdtemp(join(tmpdir(), "relay-readme-"));
  t.after(() => rm(place, { recursive: true }));
  const file = join(place, "link.json");
  const code = filled(codeUnder("## An app"), {
    "http://localhost:8787": relay.url,
    "pk_…": publishableKey,
    "notes-link.json": file,
  });
  const search =
    "const search = async (query: string, limit: number, _: AbortSignal) => [query, limit];";
  const urls: string[] = [];
  for (const _ of ["the first time", "again"]) {
    const app = run(`${search}\n${code}`);
    const [mcpUrl = ""] = /http\S+/.exec(await app.line) ?? [];
    urls.push(mcpUrl);
    await online(mcpUrl);
    const answer = await callTool(mcpUrl, "search_notes", { query: "tulips" });
    assert.equal(textOf(answer), '{"found":["tulips",10]}');
    const ended = new Promise((resolve) => {
      app.on("close", resolve);
    });
    app.kill();
    await ended;
  }
  assert.equal(urls[0], urls[1]);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
});

test("the test of the README runs", async () => {
  const before = `
    import { createRelay, tool } from "@relay/client";
    const searchNotes = tool("search_notes", { description: "", run: ({ query }) => "3 " + query });
  `;
  const app = run(`${before}\n${codeUnder("## Testing an app")}\nrelay.stop();`);
  assert.equal(await app.line, "ok 3 tulips\n");
});

/** The URL is printed as soon as it is known; the app is online a moment later. */
async function online(mcpUrl: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await post(mcpUrl, { jsonrpc: "2.0", id: 1, method: "tools/list" });
    if (answer.message["result"]?.tools.length > 0) {
      const seen = textOf(await callTool(mcpUrl, "search_notes", { query: "" }));
      if (!/not running/.test(seen)) return;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  throw new Error("the app did not come online");
}
