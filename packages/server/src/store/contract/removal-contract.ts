import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { LinkId, ProjectId } from "@relay/protocol";
import type { Store } from "../store.ts";
import { openFor } from "./harness.ts";
import type { OpenHarness } from "./harness.ts";
import {
  DAY,
  HOUR,
  NOON,
  addLink,
  addLinkedProject,
  addProject,
  manifestOf,
  newCall,
  newKey,
  newLink,
  newProject,
} from "./records.ts";

const PAGE = { limit: 10, cursor: null };
const MONTH = "2026-10";

/** What every store must do when a project is deleted. */
export function removalContract(open: OpenHarness): void {
  test("nobody sees a deleted project, its keys or its links any more, also after a restart", async (t) => {
    const harness = await openFor(t, open);
    const accountId = await harness.addAccount();
    const project = newProject({ accountId, projectsMax: 1 });
    const { projectId } = project;
    const key = newKey(projectId);
    await harness.store().createProject(project, [key]);
    const link = await addLink(harness.store(), projectId);
    const { linkId } = link;
    assert.equal(await harness.store().deleteProject(projectId, NOON), true);
    for (const again of [false, true]) {
      const store = again ? await harness.reopen() : harness.store();
      assert.equal(await store.getProject(projectId), null);
      assert.equal(await store.changeProject(projectId, { name: "New" }), null);
      assert.equal(await store.findKey(key.hash, NOON), null);
      assert.deepEqual(await store.listKeys(projectId), []);
      assert.equal(await store.getLink(linkId), null);
      assert.equal(await store.findLinkByLinkToken(link.linkTokenHash), null);
      assert.equal(await store.findLinkByUrlToken(link.urlTokenHash), null);
      assert.deepEqual(await store.listProjectsOf([accountId]), []);
      assert.deepEqual(await idsOf(store), []);
      const { projects, links } = await store.stats(MONTH);
      assert.deepEqual({ projects, links }, { projects: 0, links: 0 });
      const accounts = await store.listAccounts(PAGE);
      assert.ok(accounts !== "bad_cursor");
      assert.ok(accounts.items.every((account) => account.projects === 0));
    }
    const store = harness.store();
    const claim = { linkId, node: "n1", manifest: manifestOf("1"), at: NOON };
    assert.equal(await store.claimLink(claim), "gone");
    assert.deepEqual(await store.createLink(newLink(projectId), 10), {
      created: false,
      reason: "no_project",
    });
    assert.equal(await store.createKey(newKey(projectId)), "no_project");
    assert.equal(await store.deleteProject(projectId, NOON), false);
    // Its place in the account is free.
    assert.equal(
      await store.createProject(newProject({ accountId, projectsMax: 1 }), []),
      "created",
    );
  });

  test("to delete a project leaves the others as they are", async (t) => {
    const store = (await openFor(t, open)).store();
    const kept = await filled(store, "shared");
    const gone = await filled(store, "shared");
    await store.deleteProject(gone.projectId, NOON);
    await store.purgeProject(gone.projectId);
    assert.equal((await store.getLink(kept.linkId))?.link.manifestHash, manifestOf("shared").hash);
    assert.notEqual(await store.getManifest(manifestOf("shared").hash), null);
    assert.equal((await store.usage(kept.projectId, MONTH)).total, 3);
    const calls = await store.listCalls(kept.projectId, {}, PAGE);
    assert.ok(calls !== "bad_cursor");
    assert.equal(calls.items.length, 3);
    assert.deepEqual(await idsOf(store), [kept.projectId]);
    // A project that was not deleted is not purged.
    await store.purgeProject(kept.projectId);
    assert.equal((await store.usage(kept.projectId, MONTH)).total, 3);
  });

  test("a purge drops the calls of every day, their sums, the links and their manifests", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await filled(store, "only");
    await store.deleteProject(projectId, NOON);
    await store.purgeProject(projectId);
    await assertEmpty(store, projectId, linkId);
    assert.equal(await store.getManifest(manifestOf("only").hash), null);
  });

  test("a call that ended after its project was deleted goes with a sweep an hour later", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await filled(store, "late");
    await store.deleteProject(projectId, NOON);
    await store.purgeProject(projectId);
    await store.recordCall(newCall(projectId, linkId), false);
    await store.sweep(rulesAt(NOON + HOUR - 1));
    assert.equal((await store.usage(projectId, MONTH)).total, 1);
    await store.sweep(rulesAt(NOON + HOUR + 1));
    await assertEmpty(store, projectId, linkId);
  });

  test("a sweep finishes what a purge did not", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await filled(store, "unfinished");
    const other = await addProject(store);
    await store.deleteProject(projectId, NOON);
    await store.sweep(rulesAt(NOON + HOUR + 1));
    await assertEmpty(store, projectId, linkId);
    assert.deepEqual(await idsOf(store), [other]);
    // Its id is nobody's: a project of the same id is a new one.
    assert.equal(await store.createProject(newProject({ projectId }), []), "created");
  });
}

function rulesAt(now: number) {
  return {
    now,
    callRetentionDays: 30,
    unusedLinkDays: 7,
    revokedLinkDays: 30,
    rollUpMonths: 13,
  };
}

/** A project with a connected link and three calls on two days. */
async function filled(store: Store, version: string) {
  const { projectId, linkId } = await addLinkedProject(store);
  await store.claimLink({ linkId, node: "n1", manifest: manifestOf(version), at: NOON });
  for (const startedAt of [NOON, NOON + 1, NOON - DAY]) {
    await store.recordCall(newCall(projectId, linkId, { startedAt }), false);
  }
  return { projectId, linkId };
}

async function assertEmpty(store: Store, projectId: ProjectId, linkId: LinkId): Promise<void> {
  assert.equal((await store.usage(projectId, MONTH)).total, 0);
  const calls = await store.listCalls(projectId, {}, PAGE);
  assert.deepEqual(calls, { items: [], nextCursor: null });
  const links = await store.listLinks(projectId, { sort: "-createdAt" }, PAGE);
  assert.deepEqual(links, { items: [], nextCursor: null });
  assert.deepEqual(await store.linkHistory(linkId), { sockets: [], manifests: [] });
}

async function idsOf(store: Store): Promise<ProjectId[]> {
  const page = await store.listProjects(PAGE);
  assert.ok(page !== "bad_cursor");
  return page.items.map(({ projectId }) => projectId);
}
