/** What a busy Relay writes to its log and its folder: nothing that could be used or read (SPEC 2). */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { WebSocket } from "ws";
import { Blockade } from "./calls-blockade.ts";
import { callText } from "./calls-rows.ts";
import { callTool, connectApp, helloOf, post, TestApp } from "./harness.ts";
import type { HostAnswer, TestLink, TestProject } from "./harness.ts";
import { startChild } from "./drain-child.ts";
import type { ChildRelay } from "./drain-child.ts";
import { OpenStream } from "./host-open-stream.ts";
import { exchange, requestText } from "./host-raw.ts";

/** What people's own texts are marked with; any of it in a log is a leak. */
const CANARY = {
  argument: "canary-argument-7f1",
  result: "canary-result-7f2",
  structured: "canary-structured-7f3",
  error: "canary-error-7f4",
  progress: "canary-progress-7f5",
  manifest: "canary-manifest-7f6",
  body: "canary-body-7f7",
  frame: "canary-frame-7f8",
} as const;

const CLIENT = { protocolVersion: "2025-11-25", clientInfo: { name: "host", version: "1" } };

/** Every secret the run used, by what it is. */
type Secrets = Map<string, string>;

test("a busy run at level debug leaves no token, argument, result or manifest in the log, and no token in the folder", async () => {
  await using relay = await startChild({
    RELAY_LOG_LEVEL: "debug",
    RELAY_CALL_TIMEOUT_SECONDS: "0.3",
    RELAY_UNKNOWN_TOKENS_PER_MINUTE: "5",
  });
  const secrets: Secrets = new Map([["operator token", relay.operatorToken]]);
  const project = await relay.project();
  secrets.set("secret key", project.secretKey);
  const link = await project.link("person");
  const told: string[] = [];
  await calls(link, told);
  await oddRequests(relay, project, link, told);
  await oddFrames(link);
  const url = await rotations(relay, project, link, secrets);
  await withoutStore(relay, project, { ...link, mcpUrl: url }, told);
  secrets.set("link token", link.linkToken);
  secrets.set("first URL token", tokenOf(link.mcpUrl));
  assert.deepEqual(await relay.end("SIGTERM"), { code: 0, signal: null });
  assertLogIsThere(relay.written, link);
  for (const [what, secret] of [...secrets, ...Object.entries(CANARY)]) {
    const line = relay.written.split("\n").find((one) => one.includes(secret));
    assert.equal(line, undefined, `the ${what} is in the log`);
  }
  for (const [what, secret] of secrets) {
    const answer = told.find((text) => text.includes(secret));
    assert.equal(answer, undefined, `the ${what} is in an answer`);
  }
  assertFolder(relay.dataDir, secrets);
});

const tokenOf = (url: string): string => url.slice(url.lastIndexOf("/") + 1);

/** The log is a real one: one JSON object a line, requests at level debug, their paths cut short. */
function assertLogIsThere(written: string, link: TestLink): void {
  const lines = written.split("\n").filter((line) => line.startsWith("{"));
  const parsed = lines.map((line) => JSON.parse(line));
  assert.ok(parsed.length > 50, `${parsed.length} lines`);
  const cut = `/v1/mcp/${tokenOf(link.mcpUrl).slice(0, 6)}`;
  const requests = parsed.filter(({ level, path }) => level === "debug" && path === cut);
  assert.ok(requests.length > 10, "requests of the MCP endpoint are logged");
  for (const { requestId } of requests) assert.match(requestId, /^req_[0-9a-f]{32}$/);
  assert.ok(
    parsed.some(({ level }) => level === "error"),
    "the store that was away is logged",
  );
}

/** Only hashes of tokens are stored, and nothing of what calls carried. */
function assertFolder(dataDir: string, secrets: Secrets): void {
  const marks = ["argument", "result", "structured", "error", "progress", "body", "frame"] as const;
  const kept = [...secrets, ...marks.map((what) => [what, CANARY[what]] as const)];
  const files = filesOf(dataDir);
  assert.ok(files.has("relay.db"));
  for (const [name, content] of files) {
    for (const [what, secret] of kept) {
      assert.equal(content.includes(secret), false, `the ${what} is in ${name}`);
    }
  }
}

/** What is in the files of a folder, by their names. */
function filesOf(dataDir: string): Map<string, string> {
  const entries = readdirSync(dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return new Map(
    files.map(({ name, parentPath }) => [name, readFileSync(join(parentPath, name), "latin1")]),
  );
}

/** One call of each kind, with texts that must not be kept. */
async function calls(link: TestLink, told: string[]): Promise<void> {
  const tool = {
    name: "keep",
    description: CANARY.manifest,
    inputSchema: { type: "object", properties: { n: { type: "number" } } },
  };
  const app = await connectApp(link, { tools: [tool], instructions: CANARY.manifest });
  const argument = { [CANARY.argument]: CANARY.argument };
  const call = (given: unknown = argument): Promise<HostAnswer> =>
    callTool(link.mcpUrl, "keep", given, { _meta: { progressToken: 1 } });
  const answers = [
    () => `"content":[{"type":"text","text":"${CANARY.result}"}]`,
    () => `"content":[],"structuredContent":{"a":"${CANARY.structured}"}`,
    () => `"content":"${CANARY.result}"`,
    () => `"content":[{"type":"${CANARY.result}"}]`,
  ];
  for (const members of answers) {
    const pending = call();
    const { id } = await app.next("call");
    app.send(`{"type":"progress","id":"${id}","progress":1,"message":"${CANARY.progress}"}`);
    app.send(`{"type":"result","id":"${id}",${members()}}`);
    await pending;
  }
  const failing = call();
  app.send({ type: "error", id: (await app.next("call"))["id"], message: CANARY.error });
  await failing;
  told.push((await call()).text, (await call({ n: CANARY.argument })).text);
  told.push((await callTool(link.mcpUrl, "nothing", argument)).text);
  const stream = await OpenStream.open(link.mcpUrl, callText("{}", { tool: "keep" }));
  stream.close();
  const lost = call();
  await app.next("call");
  app.socket.terminate();
  told.push((await lost).text, (await call()).text);
}

/** Requests that go wrong, with secrets where they do not belong. */
async function oddRequests(
  relay: ChildRelay,
  project: TestProject,
  link: TestLink,
  told: string[],
): Promise<void> {
  const { pathname } = new URL(link.mcpUrl);
  const bearer = { Authorization: `Bearer ${project.secretKey}`, Cookie: `t=${link.linkToken}` };
  const json = { "Content-Type": "application/json", ...bearer };
  const close = { Connection: "close" };
  const targets = [
    `${pathname}/.well-known/oauth-protected-resource`,
    `/.well-known/oauth-authorization-server${pathname}`,
    `//v1/mcp${pathname.slice("/v1/mcp".length)}`,
    `${pathname}/${link.linkToken}`,
    `/v1/mcp/${link.linkToken}`,
    `/v1/mcp/${project.secretKey}`,
    `/v1/links/${link.linkToken}`,
    `/${relay.operatorToken}`,
    `/v1/project?key=${project.secretKey}&u=${tokenOf(link.mcpUrl)}`,
    `/relay${pathname}?token=${link.linkToken}`,
  ];
  for (const target of targets) {
    for (const method of ["GET", "POST"]) {
      const text = requestText(relay.port, method, target, { ...json, ...close }, "{}");
      told.push((await exchange(relay.port, text)).body);
    }
  }
  const bodies = [`{"${CANARY.body}`, `{"jsonrpc":"2.0","id":1,"method":"${CANARY.body}"}`, "[]"];
  for (const body of [...bodies, `"${CANARY.body.padEnd(90_000, "x")}"`]) {
    told.push((await post(link.mcpUrl, body, { ...bearer, Referer: link.mcpUrl })).text);
  }
  const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: CLIENT };
  await post(link.mcpUrl, initialize);
  const broken = `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nBad ${link.linkToken}: x\r\n\r\n`;
  told.push((await exchange(relay.port, broken)).body);
  const wrongHost = { ...json, ...close, Host: "evil.example" };
  told.push(
    (await exchange(relay.port, requestText(relay.port, "POST", pathname, wrongHost))).body,
  );
  for (const key of [link.linkToken, relay.operatorToken, `${project.secretKey}x`]) {
    told.push(JSON.stringify((await relay.rest("GET", "/v1/project", key)).body));
    told.push(JSON.stringify((await relay.rest("POST", "/v1/links", key, `{"${key}`)).body));
  }
}

/** Frames that go wrong on sockets of their own. */
async function oddFrames(link: TestLink): Promise<void> {
  const hello = helloOf(link);
  const wrong = [
    { ...hello, token: `${link.linkToken.slice(0, -1)}!` },
    { ...hello, protocol: 2 },
    { ...hello, tools: [{ name: CANARY.manifest, inputSchema: { type: CANARY.manifest } }] },
    { type: CANARY.frame, id: link.linkToken },
    `{"type":"${CANARY.frame}`,
  ];
  for (const frame of wrong) {
    const app = new TestApp(link.socketUrl);
    await app.opened();
    app.send(frame);
    await app.closed;
  }
  const app = await connectApp(link);
  for (let n = 0; n < 3; n += 1) app.send({ type: CANARY.frame, id: link.linkToken });
  await app.next("error");
  await app.close();
  const misled = new WebSocket(link.mcpUrl.replace("http", "ws"));
  misled.on("error", () => undefined);
  await new Promise((resolve) => misled.once("close", resolve));
}

/** Rotates by the app and by the developer, also while the app is away; returns the last URL. */
async function rotations(
  relay: ChildRelay,
  project: TestProject,
  link: TestLink,
  secrets: Secrets,
): Promise<string> {
  const path = `/v1/links/${link.linkId}/rotate`;
  const app = await connectApp(link);
  app.send({ type: "link.rotate", id: "r1" });
  secrets.set("second URL token", tokenOf((await app.next("link.rotated"))["mcpUrl"]));
  await relay.rest("POST", path, project.secretKey);
  secrets.set("third URL token", tokenOf((await app.next("link.rotated"))["mcpUrl"]));
  await app.close();
  await relay.rest("POST", path, project.secretKey);
  // The new URL waits for the app, sealed.
  const kept = [...filesOf(relay.dataDir).values()];
  const back = await connectApp(link);
  const url = String((await back.next("link.rotated"))["mcpUrl"]);
  secrets.set("fourth URL token", tokenOf(url));
  assert.equal(
    kept.some((content) => content.includes(tokenOf(url))),
    false,
    "a URL that waits for its app is readable in the folder",
  );
  await back.close();
  return url;
}

/** Makes the store fail under every kind of request, so that the failures are logged. */
async function withoutStore(
  relay: ChildRelay,
  project: TestProject,
  link: TestLink,
  told: string[],
): Promise<void> {
  const app = await connectApp(link, {
    onCall: () => ({ type: "result", content: [{ type: "text", text: CANARY.result }] }),
  });
  using _ = new Blockade(relay.dataDir);
  const path = `/v1/links/${link.linkId}/rotate`;
  const [called, rotated, made] = await Promise.all([
    callTool(link.mcpUrl, "search_notes", { query: CANARY.argument }),
    relay.rest("POST", path, project.secretKey),
    relay.rest("POST", "/v1/links", project.publishableKey, { label: CANARY.body }),
  ]);
  assert.deepEqual([called.status, rotated.status, made.status], [200, 503, 503]);
  const late = new TestApp(link.socketUrl);
  await late.opened();
  late.send(helloOf(link));
  assert.equal((await late.closed).code, 1011);
  told.push(JSON.stringify(rotated.body), JSON.stringify(made.body));
  app.socket.terminate();
}
