import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { LinkId } from "@relay/protocol";
import type { Store } from "../store.ts";
import { openFor } from "./harness.ts";
import type { OpenHarness } from "./harness.ts";
import { addLink, addLinkedProject, addProject, manifestOf, DAY, NOON } from "./records.ts";

const CLOSED = { code: 1000, reason: "bye ✓" };
const TAKEN_OVER = { code: 4001, reason: "a newer socket took over the link" };

/** What every store must keep of a link's sockets and manifests. */
export function historyContract(open: OpenHarness): void {
  socketContract(open);
  manifestContract(open);
  boundContract(open);
}

function claim(store: Store, linkId: LinkId, at: number, version = "1", node = "n1") {
  return store.claimLink({ linkId, node, manifest: manifestOf(version), at });
}

async function socketsOf(store: Store, linkId: LinkId) {
  const { sockets } = await store.linkHistory(linkId);
  return sockets.map(({ connectedAt, disconnectedAt, close }) => [
    connectedAt - NOON,
    disconnectedAt === null ? null : disconnectedAt - NOON,
    close,
  ]);
}

function socketContract(open: OpenHarness): void {
  test("a link's history has its sockets, the newest first, and how each ended", async (t) => {
    const harness = await openFor(t, open);
    const { linkId } = await addLinkedProject(harness.store());
    assert.deepEqual(await harness.store().linkHistory(linkId), { sockets: [], manifests: [] });
    await claim(harness.store(), linkId, NOON, "1.0");
    await harness.store().releaseLink(linkId, 1, NOON + 5, CLOSED);
    await claim(harness.store(), linkId, NOON + 9, "1.1");
    const store = await harness.reopen();
    const { sockets } = await store.linkHistory(linkId);
    assert.deepEqual(sockets, [
      {
        connectedAt: NOON + 9,
        disconnectedAt: null,
        close: null,
        app: { name: "Notes", version: "1.1" },
      },
      {
        connectedAt: NOON,
        disconnectedAt: NOON + 5,
        close: CLOSED,
        app: { name: "Notes", version: "1.0" },
      },
    ]);
  });

  test("a socket that was taken over is completed when it closes, and the newer one left alone", async (t) => {
    const store = (await openFor(t, open)).store();
    const { linkId } = await addLinkedProject(store);
    await claim(store, linkId, NOON);
    await claim(store, linkId, NOON + 1, "1", "n2");
    await store.releaseLink(linkId, 1, NOON + 2, TAKEN_OVER);
    assert.equal((await store.getLink(linkId))?.link.ownerNode, "n2");
    assert.deepEqual(await socketsOf(store, linkId), [
      [1, null, null],
      [0, 2, TAKEN_OVER],
    ]);
  });

  test("a socket ends once: what is said of its end later changes nothing", async (t) => {
    const store = (await openFor(t, open)).store();
    const { linkId } = await addLinkedProject(store);
    await claim(store, linkId, NOON);
    await store.releaseLink(linkId, 1, NOON + 2, CLOSED);
    await store.releaseLink(linkId, 1, NOON + 7, TAKEN_OVER);
    await store.releaseLink(linkId, 2, NOON + 7, TAKEN_OVER);
    await store.releaseNode("n1", NOON + 9);
    assert.deepEqual(await socketsOf(store, linkId), [[0, 2, CLOSED]]);
  });

  test("no socket ends before it began, though the clock was set back", async (t) => {
    const store = (await openFor(t, open)).store();
    const { linkId } = await addLinkedProject(store);
    await claim(store, linkId, NOON);
    await store.releaseLink(linkId, 1, NOON - 5, CLOSED);
    await claim(store, linkId, NOON);
    await store.releaseNode("n1", NOON - 5);
    assert.deepEqual(await socketsOf(store, linkId), [
      [0, 0, null],
      [0, 0, CLOSED],
    ]);
  });

  test("a node's release completes its open sockets, those taken over too, and no other's", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const [one, two] = [await addLink(store, projectId), await addLink(store, projectId)];
    await claim(store, one.linkId, NOON);
    await claim(store, one.linkId, NOON + 1, "1", "n2");
    await claim(store, two.linkId, NOON + 1);
    assert.equal(await store.releaseNode("n1", NOON + 2), 1);
    assert.deepEqual(await socketsOf(store, one.linkId), [
      [1, null, null],
      [0, 2, null],
    ]);
    assert.deepEqual(await socketsOf(store, two.linkId), [[1, 2, null]]);
  });

  test("a node's release completes more open sockets than one write does", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const links = await Promise.all(Array.from({ length: 600 }, () => addLink(store, projectId)));
    await Promise.all(links.map(({ linkId }) => claim(store, linkId, NOON)));
    await Promise.all(links.map(({ linkId }) => claim(store, linkId, NOON + 1, "1", "n2")));
    assert.equal(await store.releaseNode("n1", NOON + 2), 0);
    const histories = await Promise.all(links.map(({ linkId }) => socketsOf(store, linkId)));
    for (const [, before] of histories) assert.deepEqual(before, [0, 2, null]);
  });
}

function manifestContract(open: OpenHarness): void {
  const toolsOf = (...tools: readonly string[]) => `[${tools.join(",")}]`;
  const versions = [
    toolsOf('{"name":"search","description":"Finds notes"}', '{"name":"add"}'),
    toolsOf('{"name":"share"}', '{"name":"search","description":"Sends notes"}'),
  ] as const;

  test("a link's history has what each new manifest added, removed and changed", async (t) => {
    const harness = await openFor(t, open);
    const { linkId } = await addLinkedProject(harness.store());
    const [first, second] = versions.map((toolsText, at) => manifestOf(`${at}`, { toolsText }));
    assert.ok(first !== undefined && second !== undefined);
    for (const [at, manifest] of [first, first, second, second, first].entries()) {
      await harness.store().claimLink({ linkId, node: "n1", manifest, at: NOON + at });
    }
    const store = await harness.reopen();
    const { sockets, manifests } = await store.linkHistory(linkId);
    assert.equal(sockets.length, 5);
    const { hash } = first;
    assert.deepEqual(manifests, [
      { hash, at: NOON + 4, added: ["add"], removed: ["share"], changed: ["search"] },
      { hash: second.hash, at: NOON + 2, added: ["share"], removed: ["add"], changed: ["search"] },
      { hash, at: NOON, added: ["search", "add"], removed: [], changed: [] },
    ]);
  });

  test("each link's manifest is compared with its own before", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const [one, two] = [await addLink(store, projectId), await addLink(store, projectId)];
    const toolsTexts = ['[{"name":"a"}]', '[{"name":"b"}]', '[{"name":"b","title":"B"}]'] as const;
    const [a, b, c] = toolsTexts.map((toolsText, at) => manifestOf(`${at}`, { toolsText }));
    assert.ok(a !== undefined && b !== undefined && c !== undefined);
    const hellos = [
      { linkId: one.linkId, manifest: a },
      { linkId: two.linkId, manifest: b },
      { linkId: one.linkId, manifest: c },
      { linkId: two.linkId, manifest: c },
    ];
    for (const hello of hellos) await store.claimLink({ ...hello, node: "n1", at: NOON });
    const [change] = (await store.linkHistory(one.linkId)).manifests;
    assert.deepEqual([change?.added, change?.removed, change?.changed], [["b"], ["a"], []]);
    const [other] = (await store.linkHistory(two.linkId)).manifests;
    assert.deepEqual([other?.added, other?.removed, other?.changed], [[], [], ["b"]]);
  });
}

function boundContract(open: OpenHarness): void {
  test("a link keeps its last 20 sockets and its last 20 manifests, another's do not count", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const [one, two] = [await addLink(store, projectId), await addLink(store, projectId)];
    await claim(store, two.linkId, NOON);
    for (let at = 0; at < 25; at += 1) await claim(store, one.linkId, NOON + at, `${at}`);
    const full = await store.linkHistory(one.linkId);
    const newest = Array.from({ length: 20 }, (_, back) => NOON + 24 - back);
    assert.deepEqual(
      full.sockets.map(({ connectedAt }) => connectedAt),
      newest,
    );
    assert.deepEqual(
      full.manifests.map(({ at }) => at),
      newest,
    );
    for (let at = 25; at < 30; at += 1) await claim(store, one.linkId, NOON + at, "24");
    const later = await store.linkHistory(one.linkId);
    assert.deepEqual(
      later.sockets.map(({ app }) => app.version),
      [
        ...Array.from({ length: 6 }, () => "24"),
        ...full.sockets.slice(1, 15).map((s) => s.app.version),
      ],
    );
    assert.deepEqual(later.manifests, full.manifests);
    const other = await store.linkHistory(two.linkId);
    assert.deepEqual([other.sockets.length, other.manifests.length], [1, 1]);
  });

  test("a link's history goes with the link", async (t) => {
    const store = (await openFor(t, open)).store();
    const { linkId } = await addLinkedProject(store);
    await claim(store, linkId, NOON - 60 * DAY);
    await store.revokeLink(linkId, NOON - 31 * DAY);
    await store.releaseLink(linkId, 1, NOON - 31 * DAY, { code: 4410, reason: "revoked" });
    assert.equal((await store.linkHistory(linkId)).sockets[0]?.close?.code, 4410);
    await store.sweep({
      now: NOON,
      callRetentionDays: 30,
      unusedLinkDays: 7,
      revokedLinkDays: 30,
      rollUpMonths: 13,
    });
    assert.equal(await store.getLink(linkId), null);
    assert.deepEqual(await store.linkHistory(linkId), { sockets: [], manifests: [] });
  });
}
