/** What the operator sees and takes away by session. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { restore } from "../../packages/server/src/store/backup.ts";
import { openDashboard } from "./dashboard-visitor.ts";
import type { Visitor } from "./dashboard-visitor.ts";
import { connectApp, openRelay } from "./harness.ts";
import type { JsonObject, TestLink } from "./harness.ts";

const desk = await openDashboard();
after(() => desk[Symbol.asyncDispose]());
let oona: Visitor;
let ada: Visitor;

before(async () => {
  oona = await desk.operator();
  ada = await desk.visitor("ada");
});

test("health says what is open, running and waiting, and the limits in force", async () => {
  const made = (await oona.ask("POST", "/api/projects", { name: "Notes" })).body;
  const link = await desk.relay.rest("POST", "/v1/links", made["publishableKey"], {});
  await connectApp(link.body as TestLink);
  const first = await oona.ask("GET", "/api/operator/health");
  assert.equal(first.status, 200);
  const { body } = first;
  assert.deepEqual([body["ready"], body["reason"]], [true, null]);
  assert.deepEqual([body["openSockets"], body["connectedLinks"], body["callsInFlight"]], [1, 1, 0]);
  assert.equal(body["limits"].callsPerMinute, 60);
  assert.match(body["versions"].node, /^\d+\./);
  assert.ok(body["memoryBytes"] > 1e6 && body["store"].bytes > 1e4);
  assert.ok(Date.parse(body["startedAt"]) <= Date.now());
  assert.equal(body["eventLoop"], null);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const { eventLoop } = (await oona.ask("GET", "/api/operator/health")).body;
  assert.ok(eventLoop.maxMs >= eventLoop.p50Ms && eventLoop.busy >= 0 && eventLoop.busy <= 1);
  const byToken = await desk.relay.rest("GET", "/v1/operator/health", desk.relay.operatorToken);
  assert.deepEqual(Object.keys(byToken.body).toSorted(), Object.keys(body).toSorted());
});

test("the operator's lists and projects are reached by session with the same answers", async () => {
  for (const path of ["accounts", "projects", "stats"]) {
    const bySession = await oona.ask("GET", `/api/operator/${path}`);
    assert.equal(bySession.status, 200, path);
    const { operatorToken } = desk.relay;
    const byToken = await desk.relay.rest("GET", `/v1/operator/${path}`, operatorToken);
    assert.deepEqual(bySession.body, byToken.body, path);
    assert.equal((await ada.ask("GET", `/api/operator/${path}`)).status, 404, path);
  }
});

test("a backup comes as one file that restores to the same Relay, and nothing of it stays", async () => {
  const made = (await ada.ask("POST", "/api/projects", { name: "Kept" })).body;
  // What a process that died while it sent one left behind.
  writeFileSync(join(desk.relay.dataDir, "backup.sending"), "half");
  const response = await fetch(`${desk.relay.url}/api/operator/backup`, {
    headers: oona.headers(),
  });
  assert.equal(response.status, 200);
  assert.match(
    response.headers.get("content-disposition") ?? "",
    /^attachment; filename="relay-\d{4}-\d{2}-\d{2}\.backup"$/,
  );
  const bytes = new Uint8Array(await response.arrayBuffer());
  assert.equal(bytes.length, Number(response.headers.get("content-length")));
  const folder = mkdtempSync(join(tmpdir(), "relay-backup-"));
  try {
    writeFileSync(join(folder, "file"), bytes);
    restore(join(folder, "file"), join(folder, "data"));
    const restored = await openRelay({}, join(folder, "data"));
    const found = await restored.rest("GET", "/v1/project", made["secretKey"]);
    await restored.stop();
    assert.deepEqual([found.status, found.body["name"]], [200, "Kept"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
  assert.ok(!readdirSync(desk.relay.dataDir).includes("backup.sending"));
});

test("a backup is for the operator alone, one at a time, and never for another site's page", async () => {
  const path = "/api/operator/backup";
  assert.equal((await ada.ask("GET", path)).status, 404);
  assert.equal((await desk.relay.rest("GET", path, null)).status, 401);
  const crossSite = await oona.ask("GET", path, undefined, { "Sec-Fetch-Site": "cross-site" });
  assert.deepEqual(codeOf(crossSite), [403, "ORIGIN_NOT_ALLOWED"]);
  const answers = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const response = await fetch(desk.relay.url + path, { headers: oona.headers() });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  assert.deepEqual(
    answers.toSorted((a, b) => a - b),
    [200, 409, 409],
  );
});

test("who leaves in the middle of a backup leaves no file behind, and the next one works", async () => {
  const abort = new AbortController();
  const request = fetch(`${desk.relay.url}/api/operator/backup`, {
    headers: oona.headers(),
    signal: abort.signal,
  });
  await request.then(() => abort.abort());
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(`${desk.relay.url}/api/operator/backup`, {
      headers: oona.headers(),
    });
    await response.arrayBuffer();
    if (response.status === 200) break;
    assert.ok(tries < 200, "the backup was never over");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const file = join(desk.relay.dataDir, "backup.sending");
  for (let tries = 0; statSync(file, { throwIfNoEntry: false }) !== undefined; tries += 1) {
    assert.ok(tries < 200, "the file stays");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

function codeOf(answer: { status: number; body: JsonObject }): readonly unknown[] {
  return [answer.status, answer.body["error"]?.code];
}
