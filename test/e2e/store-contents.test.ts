/** What is on the disk, and what must never be (SPEC 2 and 11). */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { test } from "node:test";
import { ECHO, SEARCH_TOOL, callTool, connectApp, openRelay, textOf } from "./harness.ts";
import type { TestLink, TestRelay } from "./harness.ts";

const DAY_MS = 24 * 3_600_000;

/** The content hashes of all stored manifests. */
function manifests({ dataDir }: TestRelay): string[] {
  const db = new DatabaseSync(join(dataDir, "relay.db"), { readOnly: true });
  const rows = db.prepare("SELECT hash FROM manifests").all();
  db.close();
  return rows.map(({ hash }) => String(hash));
}

test("tokens are stored as hashes alone, and of calls nothing that was said", async () => {
  const relay = await openRelay();
  const project = await relay.project();
  const made = await relay.rest("POST", "/v1/links", project.secretKey, {});
  const links = [await project.link(), made.body as TestLink];
  const urls = links.map(({ mcpUrl }) => mcpUrl);
  for (const link of links) {
    const app = await connectApp(link, ECHO);
    const said = { query: "a secret question" };
    assert.match(textOf(await callTool(link.mcpUrl, SEARCH_TOOL.name, said)), /a secret question/);
    app.send({ type: "link.rotate", id: "r1" });
    urls.push(String((await app.next("link.rotated"))["mcpUrl"]));
    await app.close();
  }
  const path = `/v1/links/${made.body["linkId"]}/rotate`;
  urls.push(String((await relay.rest("POST", path, project.secretKey)).body["mcpUrl"]));
  await relay.stop();
  const secrets = [
    project.secretKey,
    ...links.map(({ linkToken }) => linkToken),
    ...urls.map((url) => url.slice(url.indexOf("ut_"))),
    "a secret question",
  ];
  const files = readdirSync(relay.dataDir);
  assert.ok(files.includes("relay.db"));
  let sawPublic = false;
  for (const file of files) {
    const bytes = readFileSync(join(relay.dataDir, file));
    for (const secret of secrets) assert.ok(!bytes.includes(secret), `${secret} is in ${file}`);
    sawPublic ||= bytes.includes(project.publishableKey);
    assert.ok(file === "operator-token" || !bytes.includes(relay.operatorToken), file);
  }
  assert.ok(sawPublic, "what is public would have been found");
  await relay[Symbol.asyncDispose]();
});

test("a manifest is stored once for all links that sent it, and until none has it", async () => {
  await using relay = await openRelay();
  const project = await relay.project();
  const [one, two] = [await project.link(), await project.link()];
  const greet = async (link: TestLink, instructions: string): Promise<void> => {
    const app = await connectApp(link, { instructions });
    await app.close();
  };
  await greet(one, "the same");
  await greet(two, "the same");
  const [shared = ""] = manifests(relay);
  assert.match(shared, /^[0-9a-f]{64}$/);
  assert.deepEqual(manifests(relay), [shared]);
  await greet(one, "another");
  assert.equal(manifests(relay).length, 2);
  await greet(two, "another");
  assert.equal(manifests(relay).length, 1);
  assert.ok(!manifests(relay).includes(shared));
  await greet(one, "the same");
  assert.ok(manifests(relay).includes(shared), "the same text has the same hash");
});

test("links that were never used go after a week, revoked ones after 30 days, others stay", async () => {
  await using relay = await openRelay({ RELAY_UNUSED_LINK_DAYS: "7" });
  const project = await relay.project();
  const links = {
    unused: await project.link(),
    unusedForLess: await project.link(),
    used: await project.link(),
    revoked: await project.link(),
    revokedForLess: await project.link(),
  };
  await (await connectApp(links.used)).close();
  for (const link of [links.revoked, links.revokedForLess]) {
    await relay.rest("POST", `/v1/links/${link.linkId}/revoke`, project.secretKey);
  }
  const db = new DatabaseSync(join(relay.dataDir, "relay.db"), { timeout: 1000 });
  const age = (link: TestLink, column: "created_at" | "revoked_at", days: number): void => {
    const sql = `UPDATE links SET ${column} = ${column} - ? WHERE link_id = ?`;
    assert.equal(db.prepare(sql).run(days * DAY_MS, link.linkId).changes, 1);
  };
  age(links.unused, "created_at", 7.01);
  age(links.unusedForLess, "created_at", 6.99);
  age(links.used, "created_at", 400);
  age(links.revoked, "revoked_at", 30.01);
  age(links.revokedForLess, "revoked_at", 29.99);
  db.close();
  await relay.relay.node.sweep();
  const left: string[] = [];
  for (const [name, { linkId }] of Object.entries(links)) {
    const { status } = await relay.rest("GET", `/v1/links/${linkId}`, project.secretKey);
    if (status === 200) left.push(name);
    else assert.equal(status, 404);
  }
  assert.deepEqual(left, ["unusedForLess", "used", "revokedForLess"]);
});

test("a restart on the same folder has the same keys, links and operator", async () => {
  const first = await openRelay();
  const project = await first.project({ allowedOrigins: ["https://app.example.com"] });
  const link = await project.link("kept");
  const before = await first.rest("GET", `/v1/links/${link.linkId}`, project.secretKey);
  const settings = await first.rest("GET", "/v1/project", project.secretKey);
  await first.stop();
  await using second = await openRelay({}, first.dataDir);
  assert.equal(second.operatorToken, first.operatorToken);
  const after = await second.rest("GET", `/v1/links/${link.linkId}`, project.secretKey);
  assert.deepEqual(after.body, before.body);
  const same = await second.rest("GET", "/v1/project", project.secretKey);
  assert.deepEqual(same.body, settings.body);
  assert.equal((await second.rest("POST", "/v1/links", project.publishableKey)).status, 201);
});
