/**
 * Runs the code that the documentation shows: the marked blocks of the site's pages and of the
 * README, against a Relay in this process. `docs/site/README.md` says what the marks mean and what
 * is put in place of what a reader would fill in.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import { APP_FRAME_SCHEMAS, RELAY_FRAME_SCHEMAS, parseAppFrame } from "@relay/protocol";
import { brokenLinks } from "../docs/site/check-links.ts";
import { codeBlocks } from "../docs/site/code-blocks.ts";
import type { CodeBlock } from "../docs/site/code-blocks.ts";
import { callTool, connectApp, openRelay, post, textOf } from "./e2e/harness.ts";
import type { TestLink, TestProject, TestRelay } from "./e2e/harness.ts";

const root = join(import.meta.dirname, "..");
const RUN_MS = 30_000;
const hasShell = ["bash", "curl"].every((name) => spawnSync(name, ["--version"]).status === 0);

const pages = [
  "README.md",
  ...globSync("docs/site/src/content/docs/**/*.{md,mdx}", { cwd: root }).toSorted(),
].map((name) => ({ name, blocks: codeBlocks(readFileSync(join(root, name), "utf8")) }));

/** Where a page's blocks run. */
type Stage = {
  readonly relay: TestRelay;
  readonly project: TestProject;
  readonly link: TestLink;
  readonly backups: string;
};

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

describe("the documentation", () => {
  let relay: TestRelay;
  before(async () => {
    relay = await openRelay();
  });
  after(() => relay[Symbol.asyncDispose]());

  for (const { name, blocks } of pages) {
    if (!blocks.some((block) => isRun(name, block))) continue;
    test(`what ${name} shows can be run`, async (context) => {
      const project = await relay.project();
      const backups = mkdtempSync(join(tmpdir(), "relay-docs-"));
      const stage = { relay, project, link: await project.link(), backups };
      try {
        for (const [at, block] of blocks.entries()) {
          if (!isRun(name, block)) continue;
          const next = blocks[at + 1];
          const output = next?.marks.has("output") === true ? next.code : null;
          const skip = block.language === "sh" && !hasShell && "bash or curl is missing here";
          await context.test(`line ${block.line}`, { skip }, () =>
            runBlock(stage, block, output, name),
          );
        }
      } finally {
        rmSync(backups, { recursive: true, force: true });
        rmSync(`${relay.dataDir}-restored`, { recursive: true, force: true });
      }
    });
  }
});

test("the app of the README and of the quickstart are among what is run", () => {
  for (const wanted of ["README.md", "quickstart.md"]) {
    const page = pages.find(({ name }) => name.endsWith(wanted));
    const apps = page?.blocks.filter((block) => isApp(page.name, block)) ?? [];
    assert.ok(apps.length > 0, wanted);
  }
});

test("an output stands right behind the block that prints it", () => {
  for (const { name, blocks } of pages) {
    for (const [at, block] of blocks.entries()) {
      if (!block.marks.has("output")) continue;
      const printer = blocks[at - 1];
      assert.ok(printer !== undefined && isRun(name, printer), `${name}:${block.line}`);
    }
  }
});

test("every frame that the documentation shows is one that the socket's schemas accept", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  let shown = 0;
  for (const { name, blocks } of pages) {
    for (const { marks, code, line } of blocks) {
      const isApps = marks.has("app-frame");
      if (!isApps && !marks.has("relay-frame")) continue;
      for (const frame of jsonTexts(code)) {
        const place = `${name}:${line} ${JSON.stringify(frame)}`;
        const table = isApps ? APP_FRAME_SCHEMAS : RELAY_FRAME_SCHEMAS;
        const schema = table[String(frame["type"])]?.schema;
        assert.ok(schema !== undefined, place);
        assert.ok(ajv.validate(schema, frame), `${place}: ${ajv.errorsText()}`);
        if (isApps) assert.ok("frame" in parseAppFrame(frame), place);
        shown += 1;
      }
    }
  }
  assert.ok(shown > 15);
});

test("a link to a page or a place that is not there is found, and the others pass", () => {
  const folder = mkdtempSync(join(tmpdir(), "relay-site-"));
  try {
    mkdirSync(join(folder, "one"));
    writeFileSync(join(folder, "style.css"), "");
    writeFileSync(
      join(folder, "index.html"),
      `<link rel="stylesheet" href="/style.css"><a href="/one/#here">1</a>
       <a class="x" href="https://example.com/nowhere">2</a>
       <a href="/one/#gone">3</a><a href="two/">4</a><a href="#">5</a>`,
    );
    writeFileSync(join(folder, "one", "index.html"), `<h2 id="here">x</h2><a href="../">6</a>`);
    const { links, broken } = brokenLinks(folder);
    assert.equal(links, 6);
    assert.deepEqual(
      broken.map(({ page, link }) => [page, link]),
      [
        ["index.html", "/one/#gone"],
        ["index.html", "two/"],
      ],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** GitHub shows the README as it is: its one JavaScript block is an app, marked or not. */
function isApp(page: string, block: CodeBlock): boolean {
  return block.marks.has("app") || (page === "README.md" && block.language === "js");
}

function isRun(page: string, block: CodeBlock): boolean {
  return block.marks.has("run") || isApp(page, block);
}

async function runBlock(
  stage: Stage,
  block: CodeBlock,
  output: string | null,
  page: string,
): Promise<void> {
  const code = filledIn(stage, block.code);
  assert.ok(!code.includes("_…"), "a token was not filled in");
  if (isApp(page, block)) return runApp(stage, code);
  const app = block.marks.has("online") ? await connectApp(stage.link, NOTES) : null;
  try {
    const child =
      block.language === "js" ? startModule(stage, code) : startShell(stage, code, output === null);
    const { code: exit, stdout, stderr } = await ended(child);
    assert.equal(exit, 0, `${stderr}\n${stdout}`);
    if (output !== null) assert.deepEqual(comparable(stdout), comparable(output));
  } finally {
    await app?.close();
  }
}

/** What is connected for a block marked `online`. */
const NOTES = {
  onCall: () => ({
    type: "result",
    content: [{ type: "text", text: "2 notes match: Q3 invoices, Invoice template." }],
  }),
} as const;

/** Starts an app, calls its first tool as a host does, and stops it. */
async function runApp({ project, link, ...stage }: Stage, code: string): Promise<void> {
  const child = startModule({ project, link, ...stage }, code);
  const end = ended(child);
  try {
    const mcpUrl = await Promise.race([
      connectedUrl(project, link, child),
      end.then(({ stderr }) => Promise.reject(new Error(`the app ended: ${stderr}`))),
    ]);
    const list = await post(mcpUrl, { jsonrpc: "2.0", id: 1, method: "tools/list" });
    const answer = await callTool(mcpUrl, list.message["result"].tools[0].name);
    assert.equal(answer.message["result"]?.isError, false, answer.text);
    assert.notEqual(textOf(answer), "");
  } finally {
    child.kill();
    await end;
  }
}

/**
 * The MCP URL of the app once it is connected: the page's link, or one that the app made itself and
 * whose URL it then prints.
 */
async function connectedUrl(
  project: TestProject,
  link: TestLink,
  child: ChildProcess,
): Promise<string> {
  let printed = "";
  child.stdout?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  for (const until = Date.now() + RUN_MS; Date.now() < until; await delay(50)) {
    const own = /http\S+\/v1\/mcp\/ut_\w+/.exec(printed)?.[0];
    if (own !== undefined) return own;
    const shown = await project.relay.rest("GET", `/v1/links/${link.linkId}`, project.secretKey);
    if (shown.body["connected"] === true) return link.mcpUrl;
  }
  throw new Error("the app did not connect");
}

function filledIn({ relay, project, link, backups }: Stage, code: string): string {
  const tokens: Readonly<Record<string, string>> = {
    pk: project.publishableKey,
    sk: project.secretKey,
    op: relay.operatorToken,
    lt: link.linkToken,
    ut: link.mcpUrl.split("/").at(-1) ?? "",
  };
  return code
    .replaceAll("localhost:8787", `localhost:${relay.port}`)
    .replaceAll(/\b(pk|sk|op|lt|ut)_…/g, (_match, kind: string) => tokens[kind] ?? "")
    .replaceAll("LINK_ID", link.linkId)
    .replaceAll("/var/lib/relay", relay.dataDir)
    .replaceAll("/var/backups", backups);
}

/** A text in which what differs from run to run is the same; JSON by its value. */
function comparable(text: string): unknown {
  const same = text
    .replaceAll(/localhost:\d+/g, "localhost:8787")
    .replaceAll(/\b(pk|sk|op|lt|ut)_[0-9A-Za-z]{32}/g, "$1_…")
    .replaceAll(/\breq_[0-9a-f]{32}/g, "req_…")
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .trim();
  try {
    return JSON.parse(same);
  } catch {
    return same;
  }
}

/** Here `curl` does not hang, and fails where the answer is an error that nobody expects. */
function startShell(stage: Stage, code: string, refusalFails: boolean): ChildProcess {
  const options = `-sS --max-time 20 ${refusalFails ? "--fail-with-body" : ""}`;
  const first = `curl() { command curl ${options} "$@"; }\n`;
  return start(stage, "bash", ["-euo", "pipefail", "-c", first + code]);
}

/** Runs a module as one in the root folder, with what `docs/site/README.md` promises it finds. */
function startModule(stage: Stage, code: string): ChildProcess {
  const found = {
    relayUrl: stage.relay.url,
    publishableKey: stage.project.publishableKey,
    linkToken: stage.link.linkToken,
    socketUrl: stage.link.socketUrl,
    mcpUrl: stage.link.mcpUrl,
  };
  const first = `Object.assign(globalThis, ${JSON.stringify(found)}, {
    search: async (query) => "2 notes match " + query + ".",
  });`;
  const child = start(stage, process.execPath, [
    "-C",
    "relay-source",
    "--import",
    `data:text/javascript,${encodeURIComponent(first)}`,
    "--input-type=module",
  ]);
  child.stdin?.end(code);
  return child;
}

function start({ relay }: Stage, command: string, args: readonly string[]): ChildProcess {
  const own = Object.entries(process.env).filter(([name]) => !/^(RELAY|OTEL|npm)_/.test(name));
  return spawn(command, args, {
    cwd: root,
    env: {
      ...Object.fromEntries(own),
      PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
      RELAY_PUBLIC_URL: relay.url,
      RELAY_DATA_DIR: relay.dataDir,
    },
  });
}

async function ended(child: ChildProcess): Promise<Ended> {
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.on("data", (chunk: Buffer) => (texts[name] += chunk.toString()));
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), RUN_MS);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { code, ...texts };
  } finally {
    clearTimeout(timer);
  }
}

/** One JSON value over all lines, or one a line. */
function jsonTexts(code: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    return [JSON.parse(code)];
  } catch {
    return code
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => JSON.parse(line));
  }
}
