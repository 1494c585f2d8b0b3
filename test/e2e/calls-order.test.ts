/** Which of several reasons to refuse a call decides, and the windows of the calls of a link. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ECHO, callTool, connectApp, openRelay, textOf } from "./harness.ts";
import type { HostAnswer, JsonObject, TestApp } from "./harness.ts";
import { rowsOf, usageOf } from "./calls-rows.ts";

const relay = await openRelay();
after(() => relay[Symbol.asyncDispose]());

const RATE_LIMITED =
  /^Notes is rate limited: too many calls this minute\. Try again in (1 second|([2-9]|[1-5]\d|60) seconds)\.$/;
const told = ({ message }: HostAnswer): string =>
  message["error"]?.message ?? message["result"].content[0].text;

async function pause(app: TestApp, command: "link.pause" | "link.resume"): Promise<void> {
  app.send({ type: command, id: "p" });
  await app.next("link.state");
}

test("the first reason decides: suspended, unknown tool, size, schema, rate, paused, offline", async () => {
  const project = await relay.project({ callsPerMinute: 4 });
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  for (let n = 0; n < 4; n += 1) await callTool(link.mcpUrl);
  await pause(app, "link.pause");
  await app.close();
  await project.change({ suspended: true });
  // From here on each step takes away one reason, and the next one decides.
  const large = { query: 7, padding: "x".repeat(65_536) };
  const fits = { query: "x" };
  const path = `/v1/links/${link.linkId}/resume`;
  const steps: [string | undefined, RegExp, unknown, (() => Promise<unknown>)?][] = [
    [undefined, /^This connector is disabled$/, large],
    ["unknown_tool", /^Unknown tool: nothing$/, large, () => project.change({ suspended: false })],
    ["invalid_input", /: arguments must be at most 64 KiB as JSON$/, large],
    ["invalid_input", /: arguments\/query must be string$/, { query: 7 }],
    ["rate_limited", RATE_LIMITED, fits],
    ["paused", /^Notes is paused/, fits, () => project.change({ callsPerMinute: 5 })],
    ["offline", /^Notes is not running/, fits, () => relay.rest("POST", path, project.secretKey)],
  ];
  const answers: HostAnswer[] = [];
  for (const [at, [, expected, given, change]] of steps.entries()) {
    await change?.();
    const answer = await callTool(link.mcpUrl, at < 2 ? "nothing" : "search_notes", given);
    assert.match(told(answer), expected);
    answers.push(answer);
  }
  const rows = await rowsOf(project, 10);
  const outcomes = new Map(rows.map(({ requestId, outcome }) => [requestId, outcome]));
  assert.deepEqual(
    answers.map(({ headers }) => outcomes.get(headers.get("x-request-id"))),
    steps.map(([outcome]) => outcome),
  );
});

test("with eight calls in flight the ninth is busy; rate and paused come before that", async () => {
  const project = await relay.project({ callsPerMinute: 8 });
  const [link, other] = [await project.link(), await project.link()];
  const app = await connectApp(link);
  const pending = Array.from({ length: 8 }, () => callTool(link.mcpUrl));
  const calls: JsonObject[] = [];
  for (const _ of pending) calls.push(await app.next("call"));
  assert.match(told(await callTool(link.mcpUrl)), RATE_LIMITED);
  await project.change({ callsPerMinute: 100 });
  await pause(app, "link.pause");
  assert.match(told(await callTool(link.mcpUrl)), /^Notes is paused/);
  await pause(app, "link.resume");
  assert.equal(
    told(await callTool(link.mcpUrl)),
    "Notes is busy with other calls. Try again in a moment.",
  );
  // Eight are one link's own.
  const otherApp = await connectApp(other, ECHO);
  assert.equal(told(await callTool(other.mcpUrl)), '{"query":"invoices"}');
  // One place free: the next call passes.
  app.send({ type: "result", id: calls.pop()?.["id"], content: [] });
  await Promise.race(pending);
  const next = callTool(link.mcpUrl);
  calls.push(await app.next("call"));
  for (const { id } of calls) app.send({ type: "result", id, content: [] });
  for (const { message } of await Promise.all([...pending, next])) {
    assert.equal(message["result"].isError, false);
  }
  assert.equal(app.frames.filter(({ type }) => type === "call").length, 9);
  await Promise.all([app.close(), otherApp.close()]);
});

test("only calls that are sent use up the minute; a changed setting holds at once", async () => {
  const project = await relay.project({ callsPerMinute: 2 });
  const link = await project.link();
  const first = await connectApp(link, ECHO);
  await first.close();
  for (let n = 0; n < 3; n += 1) {
    assert.match(told(await callTool(link.mcpUrl)), /^Notes is not running/);
  }
  const app = await connectApp(link, ECHO);
  await pause(app, "link.pause");
  for (let n = 0; n < 3; n += 1)
    assert.match(told(await callTool(link.mcpUrl)), /^Notes is paused/);
  await pause(app, "link.resume");
  for (let n = 0; n < 2; n += 1) {
    assert.equal(told(await callTool(link.mcpUrl)), '{"query":"invoices"}');
  }
  for (let n = 0; n < 3; n += 1) assert.match(told(await callTool(link.mcpUrl)), RATE_LIMITED);
  await project.change({ callsPerMinute: 3 });
  assert.equal(told(await callTool(link.mcpUrl)), '{"query":"invoices"}');
  assert.match(told(await callTool(link.mcpUrl)), RATE_LIMITED);
  // Another link has a minute of its own.
  const other = await project.link();
  const otherApp = await connectApp(other, ECHO);
  assert.equal(told(await callTool(other.mcpUrl)), '{"query":"invoices"}');
  await Promise.all([app.close(), otherApp.close()]);
});

test("calls that are wrong in themselves have a minute of their own, tested before the schema", async () => {
  const project = await relay.project({ callsPerMinute: 3 });
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  assert.match(told(await callTool(link.mcpUrl, "nothing")), /^Unknown tool/);
  assert.match(told(await callTool(link.mcpUrl, "search_notes", {})), /^Invalid arguments/);
  // They use nothing of the good calls' minute.
  for (let n = 0; n < 3; n += 1) {
    assert.equal(told(await callTool(link.mcpUrl)), '{"query":"invoices"}');
  }
  assert.match(told(await callTool(link.mcpUrl)), RATE_LIMITED);
  assert.match(told(await callTool(link.mcpUrl, "nothing")), /^Unknown tool/);
  for (const [tool, given] of [
    ["nothing", {}],
    ["search_notes", {}],
    ["search_notes", { query: "x" }],
  ] as const) {
    assert.match(told(await callTool(link.mcpUrl, tool, given)), RATE_LIMITED, tool);
  }
  const { byOutcome } = await usageOf(project, 10);
  assert.deepEqual(byOutcome, { invalid_input: 1, ok: 3, rate_limited: 4, unknown_tool: 2 });
  await app.close();
});

test("before the first hello texts name the project, after it the app's last hello", async () => {
  const project = await relay.project({ name: "Project", callsPerMinute: 1 });
  const link = await project.link();
  assert.match(told(await callTool(link.mcpUrl, "a")), /^Unknown tool: a$/);
  assert.match(told(await callTool(link.mcpUrl, "a")), /^Project is rate limited/);
  for (const name of ["Jotter", "Jotter 2"]) {
    const app = await connectApp(link, { app: { name, version: "1" } });
    assert.match(told(await callTool(link.mcpUrl)), new RegExp(`^${name} is rate limited`));
    await app.close();
  }
  await project.change({ callsPerMinute: 100 });
  assert.match(told(await callTool(link.mcpUrl)), /^Jotter 2 is not running on your device/);
});

test("a tool's name that a host made up is cut to 64 code points in texts and rows", async () => {
  const project = await relay.project();
  const link = await project.link();
  const name = "😀".repeat(65);
  const { message } = await callTool(link.mcpUrl, name, {});
  assert.equal(message["error"].message, `Unknown tool: ${"😀".repeat(64)}`);
  await callTool(link.mcpUrl, "x".repeat(60_000), {});
  const rows = await rowsOf(project, 2);
  const sizes = rows.map(({ tool }) => `${Array.from(String(tool)).length} ${tool.slice(0, 2)}`);
  assert.deepEqual(new Set(sizes), new Set(["64 xx", "64 😀"]));
});

test("past 300 refused calls of a link in a minute only usage counts them", async () => {
  const project = await relay.project({ callsPerMinute: 100 });
  const [link, other] = [await project.link(), await project.link()];
  const app = await connectApp(other, ECHO);
  // The wrong ones first, then the rate-limited ones behind them: all are refused.
  for (let n = 0; n < 310; n += 31) {
    await Promise.all(Array.from({ length: 31 }, () => callTool(link.mcpUrl, "nothing", {})));
  }
  await callTool(other.mcpUrl, "nothing", {});
  await callTool(other.mcpUrl);
  const usage = await usageOf(project, 312);
  assert.deepEqual(
    [usage["total"], usage["counted"], usage["byOutcome"]],
    [312, 1, { ok: 1, rate_limited: 210, unknown_tool: 101 }],
  );
  const all: JsonObject[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query = `?limit=200${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
    const page = await relay.rest("GET", `/v1/calls${query}`, project.secretKey);
    all.push(...(page.body["items"] as JsonObject[]));
    cursor = page.body["nextCursor"] as string | null;
  }
  const of = (linkId: string): number => all.filter((row) => row["linkId"] === linkId).length;
  assert.deepEqual([of(link.linkId), of(other.linkId)], [300, 2]);
  await app.close();
});

test("usage adds up: the sum of its outcomes and of its days is its total", async () => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  for (let n = 0; n < 5; n += 1)
    assert.equal(textOf(await callTool(link.mcpUrl)), '{"query":"invoices"}');
  for (let n = 0; n < 3; n += 1) await callTool(link.mcpUrl, "nothing");
  await app.close();
  for (let n = 0; n < 2; n += 1) await callTool(link.mcpUrl);
  const usage = await usageOf(project, 10);
  const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0);
  const days = usage["days"] as { counted: number; total: number }[];
  assert.deepEqual(usage["byOutcome"], { ok: 5, offline: 2, unknown_tool: 3 });
  assert.equal(sum(Object.values(usage["byOutcome"])), usage["total"]);
  assert.equal(sum(days.map(({ total }) => total)), usage["total"]);
  assert.equal(sum(days.map(({ counted }) => counted)), usage["counted"]);
  const rows = await rowsOf(project, 10);
  assert.equal(rows.filter(({ counted }) => counted).length, usage["counted"]);
  const only = async (query: string): Promise<number> => (await project.calls(query)).length;
  assert.deepEqual(
    [await only("?counted=true"), await only("?counted=false"), await only("?outcome=offline")],
    [5, 5, 2],
  );
});
