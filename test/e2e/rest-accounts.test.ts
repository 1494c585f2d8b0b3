import assert from "node:assert/strict";
import { test } from "node:test";
import { ECHO, callTool, connectApp, openRelay } from "./harness.ts";

test("an account the operator made has ten projects at most, and is listed with them", async () => {
  await using relay = await openRelay({ RELAY_PROJECTS_PER_ACCOUNT: "2" });
  const made = await relay.rest("POST", "/v1/operator/accounts", relay.operatorToken);
  assert.equal(made.status, 201);
  const { accountId } = made.body as { accountId: string };
  for (const status of [201, 201, 403]) {
    const project = await relay.rest("POST", "/v1/operator/projects", relay.operatorToken, {
      name: "Notes",
      accountId,
    });
    assert.equal(project.status, status);
    if (status === 403) assert.equal(project.body["error"].code, "LIMIT_REACHED");
  }
  const listed = await relay.rest("GET", "/v1/operator/accounts", relay.operatorToken);
  assert.deepEqual(listed.body["items"][0], { ...made.body, projects: 2 });
  assert.equal(listed.body["nextCursor"], null);
});

test("the operator's stats count what there is and this month's calls", async () => {
  await using relay = await openRelay();
  const project = await relay.project();
  const link = await project.link();
  await project.link();
  await connectApp(link, ECHO);
  await callTool(link.mcpUrl);
  await callTool(link.mcpUrl, "no_such_tool");
  const usage = await relay.rest("GET", "/v1/usage", project.secretKey);
  const { status, body } = await relay.rest("GET", "/v1/operator/stats", relay.operatorToken);
  assert.equal(status, 200);
  assert.deepEqual(body, {
    accounts: 1,
    projects: 1,
    links: 2,
    connected: 1,
    callsInFlight: 0,
    unwrittenRows: 0,
    month: usage.body["month"],
    counted: 1,
    total: 2,
    byOutcome: { ok: 1, unknown_tool: 1 },
  });
});

test("accounts and stats are the operator's alone", async () => {
  await using relay = await openRelay();
  const { secretKey } = await relay.project();
  for (const path of ["/v1/operator/accounts", "/v1/operator/stats"]) {
    for (const key of [null, secretKey]) {
      assert.equal((await relay.rest("GET", path, key)).status, 401, path);
    }
  }
});
