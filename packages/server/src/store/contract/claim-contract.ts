import { strict as assert } from "node:assert";
import { test } from "node:test";
import { mintLinkId } from "../../ids.ts";
import { openFor } from "./harness.ts";
import type { OpenHarness } from "./harness.ts";
import { addLink, addLinkedProject, addProject, manifestOf, NOON } from "./records.ts";

/** What every store must do when an app connects and leaves. */
export function claimContract(open: OpenHarness): void {
  test("a claim makes the node the owner and its manifest the link's", async (t) => {
    const harness = await openFor(t, open);
    const { linkId } = await addLinkedProject(harness.store());
    const manifest = manifestOf("1.4.2", {
      instructions: null,
      warnings: [{ path: "tools[0]", message: "no description" }],
    });
    const claim = { linkId, node: "n1", manifest, at: NOON };
    const claimed = await harness.store().claimLink(claim);
    assert.ok(claimed !== "gone");
    const { link } = claimed;
    assert.deepEqual(
      [link.ownerNode, link.ownerEpoch, link.lastSeenAt, link.manifestHash],
      ["n1", 1, NOON, manifest.hash],
    );
    assert.deepEqual([link.app, link.toolCount], [manifest.app, 2]);
    const store = await harness.reopen();
    assert.deepEqual(await store.getLink(linkId), claimed);
    assert.deepEqual(await store.getManifest(manifest.hash), manifest);
    assert.equal(await store.getManifest("0".repeat(64)), null);
    assert.equal(await store.claimLink({ ...claim, linkId: mintLinkId(NOON) }), "gone");
  });

  test("a claim returns the link as it stands: what was changed before it, it knows", async (t) => {
    const store = (await openFor(t, open)).store();
    const { linkId, projectId } = await addLinkedProject(store);
    const claim = { linkId, node: "n1", manifest: manifestOf("1"), at: NOON };
    const [, , claimed] = await Promise.all([
      store.setLinkPaused(linkId, true),
      store.changeProject(projectId, { suspended: true }),
      store.claimLink(claim),
    ]);
    assert.ok(claimed !== "gone");
    assert.equal(claimed.link.paused, true);
    assert.equal(claimed.project.suspended, true);
  });

  test("claims that come at once get epochs of their own, and the highest is the owner", async (t) => {
    const store = (await openFor(t, open)).store();
    const { linkId } = await addLinkedProject(store);
    const claims = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        const manifest = manifestOf(String(at % 3));
        const claimed = await store.claimLink({ linkId, node: `n${at}`, manifest, at: NOON + at });
        assert.ok(claimed !== "gone");
        assert.equal(claimed.link.ownerNode, `n${at}`);
        return claimed.link;
      }),
    );
    const epochs = claims.map(({ ownerEpoch }) => ownerEpoch).toSorted((a, b) => a - b);
    assert.deepEqual(
      epochs,
      Array.from({ length: 50 }, (_, at) => at + 1),
    );
    const winner = claims.find(({ ownerEpoch }) => ownerEpoch === 50);
    assert.equal((await store.getLink(linkId))?.link.ownerNode, winner?.ownerNode);
  });

  releaseContract(open);
  manifestContract(open);
}

function releaseContract(open: OpenHarness): void {
  test("a release ends exactly its own epoch", async (t) => {
    const store = (await openFor(t, open)).store();
    const { linkId } = await addLinkedProject(store);
    const manifest = manifestOf("1");
    await store.claimLink({ linkId, node: "n1", manifest, at: NOON });
    await store.claimLink({ linkId, node: "n2", manifest, at: NOON + 1 });
    await store.releaseLink(linkId, 1, NOON + 2, null);
    assert.equal((await store.getLink(linkId))?.link.ownerNode, "n2");
    await store.releaseLink(linkId, 2, NOON + 3, null);
    const found = await store.getLink(linkId);
    assert.deepEqual([found?.link.ownerNode, found?.link.lastSeenAt], [null, NOON + 3]);
    await store.releaseLink(linkId, 2, NOON + 9, null);
    assert.equal((await store.getLink(linkId))?.link.lastSeenAt, NOON + 3);
    const claimed = await store.claimLink({ linkId, node: "n1", manifest, at: NOON + 4 });
    assert.ok(claimed !== "gone");
    assert.equal(claimed.link.ownerEpoch, 3);
  });

  test("a node's release ends everything it owns and nothing else", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const links = await Promise.all(Array.from({ length: 1_202 }, () => addLink(store, projectId)));
    await Promise.all(
      links.map(({ linkId }, at) => {
        const node = at < 1_200 ? "n1" : "n2";
        return store.claimLink({ linkId, node, manifest: manifestOf("1"), at: NOON });
      }),
    );
    assert.equal(await store.releaseNode("n1", NOON + 1), 1_200);
    assert.equal(await store.releaseNode("n1", NOON + 1), 0);
    const owners = await Promise.all(
      links.map(async ({ linkId }) => (await store.getLink(linkId))?.link.ownerNode),
    );
    assert.deepEqual(new Set(owners.slice(0, 1_200)), new Set([null]));
    assert.deepEqual(owners.slice(1_200), ["n2", "n2"]);
  });
}

function manifestContract(open: OpenHarness): void {
  test("a manifest is there as long as a link points to it, and no longer", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const [one, two] = [await addLink(store, projectId), await addLink(store, projectId)];
    const [before, after] = [manifestOf("1"), manifestOf("2")];
    const claim = async (linkId: typeof one.linkId, manifest: typeof before) =>
      store.claimLink({ linkId, node: "n1", manifest, at: NOON });
    await claim(one.linkId, before);
    await claim(two.linkId, before);
    await claim(one.linkId, after);
    assert.deepEqual(await store.getManifest(before.hash), before);
    await claim(two.linkId, after);
    assert.equal(await store.getManifest(before.hash), null);
    await claim(one.linkId, before);
    assert.deepEqual(await store.getManifest(before.hash), before);
    assert.deepEqual(await store.getManifest(after.hash), after);
  });
}
