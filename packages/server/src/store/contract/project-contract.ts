import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ProjectId } from "@relay/protocol";
import { hashToken, mintAccountId, mintKeyId, mintProjectId } from "../../ids.ts";
import type { Project, Store } from "../store.ts";
import { openFor } from "./harness.ts";
import type { OpenHarness } from "./harness.ts";
import { addProject, DAY, newKey, newProject, NOON } from "./records.ts";

/** What every store must do with projects and their keys. */
export function projectContract(open: OpenHarness): void {
  test("a project is what it was created as, also after the store was opened again", async (t) => {
    const harness = await openFor(t, open);
    const { accountId, projectsMax, ...settings } = newProject({
      name: "Käsebrot \u{1f9c0}",
      allowedOrigins: ["https://app.example.com", "http://localhost:3000"],
      suspended: true,
      freeCallsPerMonth: null,
      spendCapMicros: null,
    });
    const created = await harness
      .store()
      .createProject({ ...settings, accountId, projectsMax }, []);
    assert.equal(created, "created");
    const stored = await harness.store().getProject(settings.projectId);
    assert.deepEqual(stored, { ...settings, accountId: stored?.accountId });
    const reopened = await harness.reopen();
    assert.deepEqual(await reopened.getProject(settings.projectId), stored);
    assert.equal(await reopened.getProject(mintProjectId(NOON)), null);
  });

  test("accounts are listed with their projects, the newest first, and stats count them all", async (t) => {
    const store = (await openFor(t, open)).store();
    const accountId = mintAccountId(NOON);
    await store.createAccount(accountId, NOON + DAY);
    const project = newProject({ accountId });
    assert.equal(await store.createProject(project, []), "created");
    await addProject(store);
    const accounts = await store.listAccounts({ limit: 10, cursor: null });
    assert.ok(accounts !== "bad_cursor");
    const made = accounts.items.find((account) => account.accountId === accountId);
    const expected = { accountId, name: "", ownerId: null, isOperator: false };
    const money = { projects: 1, balanceMicros: 0, createdAt: NOON + DAY };
    assert.deepEqual(made, { ...expected, ...money });
    const operators = accounts.items.filter(({ isOperator }) => isOperator);
    assert.deepEqual(
      operators.map(({ projects }) => projects),
      [1],
    );
    assert.equal(accounts.items.length, 2);
    assert.equal(await store.listAccounts({ limit: 1, cursor: "nonsense" }), "bad_cursor");
    const stats = await store.stats("2026-10");
    assert.deepEqual(
      { ...stats, month: "" },
      {
        accounts: 2,
        projects: 2,
        links: 0,
        connected: 0,
        month: "",
        counted: 0,
        total: 0,
        byOutcome: {},
      },
    );
  });

  test("projects without an account belong to one account, the operator's, which has no limit", async (t) => {
    const store = (await openFor(t, open)).store();
    const first = await addProject(store, { projectsMax: 1 });
    const second = newProject({ projectsMax: 1 });
    assert.equal(await store.createProject(second, []), "created");
    const [one, two] = [await store.getProject(first), await store.getProject(second.projectId)];
    assert.ok(one !== null && two !== null);
    assert.equal(one.accountId, two.accountId);
    const named = newProject({ accountId: one.accountId, projectsMax: 1 });
    assert.equal(await store.createProject(named, []), "created");
  });

  test("an account holds no more projects than it may, also when all come at once", async (t) => {
    const harness = await openFor(t, open);
    const accountId = await harness.addAccount();
    const answers = await Promise.all(
      Array.from({ length: 15 }, () =>
        harness.store().createProject(newProject({ accountId, projectsMax: 10 }), []),
      ),
    );
    assert.equal(answers.filter((answer) => answer === "created").length, 10);
    assert.equal(answers.filter((answer) => answer === "limit_reached").length, 5);
  });

  test("a project of an account that is not there is refused", async (t) => {
    const store = (await openFor(t, open)).store();
    const project = newProject({ accountId: mintAccountId(NOON) });
    assert.equal(await store.createProject(project, []), "no_account");
    assert.equal(await store.getProject(project.projectId), null);
  });

  test("a project that can't be created leaves no key behind", async (t) => {
    const store = (await openFor(t, open)).store();
    const project = newProject();
    const key = newKey(project.projectId);
    await assert.rejects(store.createProject(project, [key, key]));
    assert.equal(await store.getProject(project.projectId), null);
    assert.equal(await store.findKey(key.hash, NOON), null);
  });

  test("changing a project changes what is named and nothing else", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store, { allowedOrigins: ["https://a.example"] });
    const before = await store.getProject(projectId);
    const changes = { name: "New", stopped: true, spendCapMicros: null, freeCallsPerMonth: 5 };
    const changed = await store.changeProject(projectId, changes);
    assert.deepEqual(changed, { ...before, ...changes });
    assert.deepEqual(await store.getProject(projectId), changed);
    assert.deepEqual(await store.changeProject(projectId, {}), changed);
    assert.equal(await store.changeProject(mintProjectId(NOON), { name: "None" }), null);
  });

  keyContract(open);
  projectListContract(open);
}

function keyContract(open: OpenHarness): void {
  test("a key is found by its hash until it is revoked or has expired", async (t) => {
    const store = (await openFor(t, open)).store();
    const project = newProject();
    const [pk, sk] = [
      newKey(project.projectId),
      newKey(project.projectId, { kind: "sk", plain: null, createdAt: NOON + 1 }),
    ];
    await store.createProject(project, [pk]);
    const expiring = { ...sk, expiresAt: NOON + DAY };
    assert.equal(await store.createKey(expiring), "created");
    const found = await store.findKey(sk.hash, NOON + DAY - 1);
    assert.equal(found?.keyId, sk.keyId);
    assert.equal(found?.kind, "sk");
    assert.deepEqual(found?.project, await store.getProject(project.projectId));
    assert.equal(await store.findKey(sk.hash, NOON + DAY), null);
    assert.equal(await store.findKey(hashToken("pk_unknown"), NOON), null);
    assert.equal(await store.revokeKey(project.projectId, pk.keyId, NOON + 5), true);
    assert.equal(await store.findKey(pk.hash, NOON + 6), null);
    const { hash: _pk, ...pkShown } = pk;
    const { hash: _sk, ...skShown } = expiring;
    assert.deepEqual(await store.listKeys(project.projectId), [
      { ...pkShown, lastUsedAt: null, revokedAt: NOON + 5 },
      { ...skShown, lastUsedAt: null, revokedAt: null },
    ]);
  });

  test("only a live key of the named project can be revoked, and only once", async (t) => {
    const store = (await openFor(t, open)).store();
    const project = newProject();
    const key = newKey(project.projectId);
    const expired = newKey(project.projectId, { expiresAt: NOON });
    await store.createProject(project, [key, expired]);
    const other = await addProject(store);
    assert.equal(await store.revokeKey(other, key.keyId, NOON), false);
    assert.equal(await store.revokeKey(project.projectId, mintKeyId(NOON), NOON), false);
    assert.equal(await store.revokeKey(project.projectId, expired.keyId, NOON), false);
    assert.equal(await store.revokeKey(project.projectId, key.keyId, NOON), true);
    assert.equal(await store.revokeKey(project.projectId, key.keyId, NOON + 1), false);
    assert.equal(await store.createKey(newKey(mintProjectId(NOON))), "no_project");
  });

  test("the latest use of a key is kept, at the latest when the store closes", async (t) => {
    const harness = await openFor(t, open);
    const project = newProject();
    const key = newKey(project.projectId);
    await harness.store().createProject(project, [key]);
    for (const at of [NOON, NOON + 20, NOON + 10]) harness.store().noteKeyUsed(key.keyId, at);
    harness.store().noteKeyUsed(mintKeyId(NOON), NOON);
    const [kept] = await (await harness.reopen()).listKeys(project.projectId);
    assert.equal(kept?.lastUsedAt, NOON + 20);
  });
}

function projectListContract(open: OpenHarness): void {
  test("projects are listed newest first, each on exactly one page", async (t) => {
    const store = (await openFor(t, open)).store();
    const expected: ProjectId[] = [];
    for (let at = 0; at < 7; at += 1) {
      // Two in the same ms: the id decides.
      const createdAt = NOON + Math.floor(at / 2);
      expected.unshift(await addProject(store, { createdAt, projectId: idOf(at) }));
    }
    assert.deepEqual(await pagesOf(store, 3), [
      expected.slice(0, 3),
      expected.slice(3, 6),
      expected.slice(6),
    ]);
    assert.deepEqual(await pagesOf(store, 7), [expected]);
    assert.equal(await store.listProjects({ limit: 3, cursor: "x" }), "bad_cursor");
  });
}

/** An id that sorts by its number. */
function idOf(number: number): ProjectId {
  return `00000000-0000-7000-8000-${String(number).padStart(12, "0")}` as ProjectId;
}

async function pagesOf(store: Store, limit: number): Promise<ProjectId[][]> {
  const pages: ProjectId[][] = [];
  let cursor: string | null = null;
  do {
    const page = await store.listProjects({ limit, cursor });
    assert.ok(page !== "bad_cursor");
    pages.push(page.items.map((project: Project) => project.projectId));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return pages;
}
