import assert from "node:assert/strict";
import { test } from "node:test";
import { ageSessions, developerOf, join, tokenOf } from "./accounts-browser.ts";
import type { Developer } from "./accounts-browser.ts";
import { openRelay } from "./harness.ts";
import type { JsonObject } from "./harness.ts";

type Ask = readonly [method: string, path: string, body?: JsonObject];

test("members may do what their role allows, others are told so, and who is removed is out at once", async () => {
  await using relay = await openRelay();
  const [owner, member] = [await developerOf(relay, "Ann"), await developerOf(relay, "Ben")];
  const made = await owner.browser.ask("POST", "/api/projects", { name: "Notes" });
  const project = `/api/projects/${made.body["projectId"]}`;
  const account = `/api/accounts/${owner.accountId}`;
  await join(owner, member, "billing");

  /** What is asked, and which roles may. */
  const table: readonly (readonly [ask: Ask, roles: readonly string[]])[] = [
    [
      ["GET", project],
      ["owner", "admin", "developer", "billing"],
    ],
    [
      ["PATCH", project, { name: "Notes" }],
      ["owner", "admin", "developer"],
    ],
    [
      ["GET", `${project}/ledger`],
      ["owner", "admin", "billing"],
    ],
    [
      ["GET", `${account}/members`],
      ["owner", "admin", "developer", "billing"],
    ],
    [
      ["PATCH", account, { name: "Team" }],
      ["owner", "admin"],
    ],
    [
      ["GET", `${account}/invitations`],
      ["owner", "admin"],
    ],
    [
      ["GET", `${account}/audit`],
      ["owner", "admin"],
    ],
    [
      ["POST", `${account}/invitations`, { role: "developer" }],
      ["owner", "admin"],
    ],
    [["POST", `${account}/invitations`, { role: "owner" }], ["owner"]],
    [["PATCH", `${account}/members/${owner.userId}`, { role: "owner" }], ["owner"]],
    [["DELETE", `${account}/members/${owner.userId}`], []],
  ];
  for (const role of ["billing", "developer", "admin", "owner"]) {
    const path = `${account}/members/${member.userId}`;
    const changed = await owner.browser.ask("PATCH", path, { role });
    assert.deepEqual(changed.body, { userId: member.userId, role });
    for (const [[method, place, body], roles] of table) {
      if (role === "owner" && roles.length === 0) continue;
      const { status } = await member.browser.ask(method, place, body);
      const isAllowed = roles.includes(role);
      assert.equal(status < 300, isAllowed, `${role} ${method} ${place}: ${status}`);
      if (!isAllowed) assert.equal(status, 403, `${role} ${method} ${place}`);
    }
  }
  const removed = await owner.browser.ask("DELETE", `${account}/members/${member.userId}`);
  assert.equal(removed.status, 200);
  assert.equal((await member.browser.ask("GET", project)).status, 404);
  assert.equal((await member.browser.ask("GET", `${account}/members`)).status, 404);
});

test("an account keeps an owner, and whoever is in it may leave", async () => {
  await using relay = await openRelay();
  const [owner, member] = [await developerOf(relay, "Ann"), await developerOf(relay, "Ben")];
  await join(owner, member, "developer");
  const path = (who: Developer): string => `/api/accounts/${owner.accountId}/members/${who.userId}`;
  for (const [method, body] of [["DELETE"], ["PATCH", { role: "admin" }]] as const) {
    const refused = await owner.browser.ask(method, path(owner), body);
    assert.equal(refused.status, 409);
    assert.match(refused.body["error"].message, /would have no owner/);
  }
  assert.equal((await member.browser.ask("DELETE", path(owner))).status, 403);
  assert.equal((await member.browser.ask("DELETE", path(member))).status, 200);
  assert.equal((await owner.browser.ask("DELETE", path(member))).status, 404);
  const listed = await owner.browser.ask("GET", `/api/accounts/${owner.accountId}/members`);
  assert.deepEqual(
    listed.body["items"].map(({ email, role }: JsonObject) => [email, role]),
    [["ann@example.com", "owner"]],
  );
});

test("an invitation is shown once, used once, and over when taken back", async () => {
  await using relay = await openRelay();
  const [owner, member] = [await developerOf(relay, "Ann"), await developerOf(relay, "Ben")];
  const path = `/api/accounts/${owner.accountId}/invitations`;
  const made = await owner.browser.ask("POST", path, { role: "developer", note: "for Ben" });
  assert.equal(made.status, 201);
  assert.equal(made.body["mailed"], false);
  const link = String(made.body["url"]);
  assert.ok(link.startsWith(`${relay.url}/invitation#token=iv_`));
  const token = tokenOf(link);
  const listed = await owner.browser.ask("GET", path);
  assert.equal(listed.body["items"].length, 1);
  assert.ok(!JSON.stringify(listed.body).includes(token));

  const seen = await member.browser.ask("POST", "/api/invitations/look", { token });
  assert.deepEqual([seen.body["accountName"], seen.body["role"]], ["Ann", "developer"]);
  const own = await owner.browser.ask("POST", "/api/invitations", { token });
  assert.equal(own.status, 409);
  const accepted = await member.browser.ask("POST", "/api/invitations", { token });
  assert.deepEqual(accepted.body, { accountId: owner.accountId, role: "developer" });
  for (const address of ["/api/invitations/look", "/api/invitations"]) {
    const again = await owner.browser.ask("POST", address, { token });
    assert.equal(again.status, 404);
  }

  const second = await owner.browser.ask("POST", path, { role: "admin" });
  const place = `${path}/${second.body["invitationId"]}`;
  assert.equal((await member.browser.ask("DELETE", place)).status, 403);
  assert.equal((await owner.browser.ask("DELETE", place)).status, 200);
  assert.equal((await owner.browser.ask("DELETE", place)).status, 404);
  const gone = await member.browser.ask("POST", "/api/invitations/look", {
    token: tokenOf(String(second.body["url"])),
  });
  assert.equal(gone.status, 404);
  const mailed = await owner.browser.ask("POST", path, { role: "admin", email: "x@example.com" });
  assert.match(mailed.body["error"].message, /sends no mail; pass the link on/);
});

test("keys, deletion and members want the password again after fifteen minutes", async () => {
  await using relay = await openRelay();
  const owner = await developerOf(relay, "Ann");
  const made = await owner.browser.ask("POST", "/api/projects", { name: "Notes" });
  const project = `/api/projects/${made.body["projectId"]}`;
  const members = `/api/accounts/${owner.accountId}`;
  ageSessions(relay, 16);
  assert.equal((await owner.browser.ask("GET", "/api/me")).body["isFresh"], false);
  const guarded: readonly Ask[] = [
    ["POST", `${project}/keys`, { kind: "sk" }],
    ["POST", `${members}/invitations`, { role: "admin" }],
    ["DELETE", project, { name: "Notes" }],
  ];
  for (const [method, path, body] of guarded) {
    const refused = await owner.browser.ask(method, path, body);
    assert.equal(refused.status, 403, path);
    assert.equal(refused.body["error"].code, "REAUTHENTICATION_NEEDED");
  }
  // To look and to change need no password.
  assert.equal((await owner.browser.ask("PATCH", project, { name: "Notes" })).status, 200);
  assert.equal((await owner.browser.ask("GET", `${members}/audit`)).status, 200);
  const wrong = await owner.browser.ask("POST", "/api/reauthenticate", { password: "wrong horse" });
  assert.equal(wrong.status, 403);
  const password = "correct horse battery";
  const typed = await owner.browser.ask("POST", "/api/reauthenticate", { password });
  assert.deepEqual(typed.body, { fresh: true });
  for (const [method, path, body] of guarded) {
    const { status } = await owner.browser.ask(method, path, body);
    assert.ok(status < 300, `${path}: ${status}`);
  }
});

test("the operator disables a user, who is signed out and stays out", async () => {
  await using relay = await openRelay();
  const ann = await developerOf(relay, "Ann");
  const path = `/v1/operator/users/${ann.userId}`;
  const set = (disabled: boolean) => relay.rest("PATCH", path, relay.operatorToken, { disabled });
  assert.equal((await set(true)).status, 200);
  assert.equal((await ann.browser.ask("GET", "/api/me")).status, 401);
  const refused = await ann.browser.signIn(ann.email);
  assert.equal(refused.body["error"].code, "USER_DISABLED");
  const listed = await relay.rest("GET", "/v1/operator/users?limit=1", relay.operatorToken);
  assert.equal(listed.body["items"][0].disabled, true);
  assert.equal((await set(false)).status, 200);
  assert.equal((await ann.browser.signIn(ann.email)).status, 200);
  const nobody = "/v1/operator/users/01a22e4f-b549-7c77-872b-7c0ba5b507e6";
  const missing = await relay.rest("PATCH", nobody, relay.operatorToken, { disabled: true });
  assert.equal(missing.status, 404);
});
