import assert from "node:assert/strict";
import { join as joinPath } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { Browser, PASSWORD, developerOf, operatorOf, tokenOf } from "./accounts-browser.ts";
import { openRelay } from "./harness.ts";
import type { JsonObject } from "./harness.ts";

test("what is done under /api leaves a line that says who, what, to what, from where and what was before", async () => {
  await using relay = await openRelay();
  const { browser, accountId, userId } = await developerOf(relay, "Ann");
  const made = await browser.ask("POST", "/api/projects", { name: "Notes" });
  const projectId = String(made.body["projectId"]);
  const project = `/api/projects/${projectId}`;
  const renamed = await browser.ask("PATCH", `/api/accounts/${accountId}`, { name: "Team" });
  await browser.ask("PATCH", project, { name: "Notebook" });
  // What is refused has changed nothing.
  await browser.ask("PATCH", project, { name: "" });
  await browser.ask("DELETE", project, { name: "wrong" });
  const key = await browser.ask("POST", `${project}/keys`, { kind: "sk" });
  const listed = await browser.ask("GET", `/api/accounts/${accountId}/audit`);
  const lines: readonly JsonObject[] = listed.body["items"];
  const actions = lines.map(({ action }) => action);
  assert.equal(lines.length, 5, actions.join("; "));
  const line = lines.find(({ action }) => action === "Renames the account");
  assert.deepEqual(line, {
    id: line?.["id"],
    at: line?.["at"],
    accountId,
    projectId: null,
    userId,
    actor: "ann@example.com",
    action: "Renames the account",
    target: accountId,
    before: null,
    after: { name: "Team" },
    address: "127.0.0.1",
    requestId: renamed.headers.get("x-request-id"),
  });
  const ofProject = lines.filter((other) => other["projectId"] === projectId);
  assert.ok(ofProject.length >= 2);
  const ofKey = lines.find(({ requestId }) => requestId === key.headers.get("x-request-id"));
  assert.equal(ofKey?.["projectId"], projectId);
  // In pages, the newest first.
  const first = await browser.ask("GET", `/api/accounts/${accountId}/audit?limit=2`);
  const cursor = String(first.body["nextCursor"]);
  const next = await browser.ask(
    "GET",
    `/api/accounts/${accountId}/audit?limit=2&cursor=${cursor}`,
  );
  assert.deepEqual([...first.body["items"], ...next.body["items"]], lines.slice(0, 4));
});

test("a change of a role says what it was, and signing in and out says who", async () => {
  await using relay = await openRelay();
  const operator = await operatorOf(relay);
  const { body } = await operator.ask("GET", "/api/me");
  const accountId = String(body["accounts"][0].accountId);
  const id = String(body["user"].id);
  const path = `/api/accounts/${accountId}/members/${id}`;
  await operator.ask("PATCH", path, { role: "owner" });
  await operator.signIn("op@example.com");
  await operator.signIn("op@example.com", "wrong horse");
  const ask = new Browser(relay);
  await ask.signIn("op@example.com");
  await ask.ask("POST", "/api/auth/sign-out", {});
  const listed = await operator.ask("GET", "/api/operator/audit");
  const lines: readonly JsonObject[] = listed.body["items"];
  assert.deepEqual(
    lines.map(({ action, actor, userId }) => [action, actor, userId]),
    [
      ["Signs out", "op@example.com", id],
      ["Signs in", "op@example.com", id],
      ["Signs in", "op@example.com", id],
      ["Changes a member's role", "op@example.com", id],
      ["Sets up the first account", "op@example.com", id],
    ],
  );
  const changed = lines[3];
  assert.deepEqual(
    [changed?.["before"], changed?.["after"], changed?.["target"]],
    [{ role: "owner" }, { role: "owner" }, id],
  );
});

test("no secret reaches the audit log, the server's log or a trace of either", async () => {
  await using relay = await openRelay();
  const link = (await relay.relay.people.setUp.mintLink()) ?? "";
  const token = tokenOf(link);
  const operator = new Browser(relay);
  const user = { name: "Op", email: "op@example.com", password: PASSWORD };
  await operator.ask("POST", "/api/setup", { ...user, token });
  const me = await operator.ask("GET", "/api/me");
  const accountId = String(me.body["accounts"][0].accountId);
  const made = await operator.ask("POST", "/api/projects", { name: "Notes" });
  const key = await operator.ask("POST", `/api/projects/${made.body["projectId"]}/keys`, {
    kind: "sk",
  });
  const path = `/api/accounts/${accountId}/invitations`;
  const invited = await operator.ask("POST", path, { role: "admin" });
  const invitation = tokenOf(String(invited.body["url"]));
  await operator.ask("POST", "/api/invitations/look", { token: invitation });
  await operator.ask("POST", "/api/invitations", { token: invitation });
  const reset = await operator.ask("POST", "/api/operator/users/password-reset", {
    email: "op@example.com",
  });
  const newPassword = "another horse battery";
  const cookie = operator.cookie;
  const resetToken = tokenOf(String(reset.body["url"]));
  const changed = { newPassword, token: resetToken };
  assert.equal((await operator.ask("POST", "/api/auth/reset-password", changed)).status, 200);
  await operator.signIn("op@example.com", newPassword);

  const db = new DatabaseSync(joinPath(relay.dataDir, "relay.db"), { readOnly: true });
  const audit = JSON.stringify(db.prepare("SELECT * FROM audit").all());
  db.close();
  const log = relay.log.join("");
  assert.ok(!audit.includes("Shows what an invitation is for"), "to look changes nothing");
  assert.ok(audit.includes("op@example.com") && log.includes("/api/invitations"));
  const secrets = [
    PASSWORD,
    newPassword,
    token,
    invitation,
    resetToken,
    String(made.body["secretKey"]),
    String(key.body["key"] ?? key.body["secretKey"]),
    cookie.split("=")[1] ?? "",
    operator.cookie.split("=")[1] ?? "",
  ];
  for (const secret of secrets) {
    assert.ok(secret.length > 15, secret);
    assert.ok(!audit.includes(secret), `audit: ${secret}`);
    assert.ok(!log.includes(secret), `log: ${secret}`);
  }
});
