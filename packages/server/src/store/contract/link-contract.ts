import { strict as assert } from "node:assert";
import { test } from "node:test";
import { hashToken, mintLinkId, mintProjectId } from "../../ids.ts";
import { openFor } from "./harness.ts";
import type { OpenHarness } from "./harness.ts";
import {
  addLink,
  addLinkedProject,
  addProject,
  HOUR,
  manifestOf,
  newLink,
  NOON,
} from "./records.ts";

/** What every store must do with links. */
export function linkContract(open: OpenHarness): void {
  test("a link is found by its id and by both of its tokens", async (t) => {
    const harness = await openFor(t, open);
    const projectId = await addProject(harness.store());
    const link = newLink(projectId, {
      label: "Ada's laptop \u0000 \u{1f4bb}",
      madeWithSecretKey: true,
    });
    assert.deepEqual(await harness.store().createLink(link, 10), { created: true, gaveWay: null });
    const store = await harness.reopen();
    const found = await store.getLink(link.linkId);
    assert.deepEqual(found?.project, await store.getProject(projectId));
    assert.deepEqual(found?.link, {
      linkId: link.linkId,
      projectId,
      label: link.label,
      paused: false,
      createdAt: NOON,
      revokedAt: null,
      lastSeenAt: null,
      lastCallAt: null,
      urlTokenHash: new Uint8Array(link.urlTokenHash),
      madeWithSecretKey: true,
      trial: false,
      sealedUrl: null,
      ownerNode: null,
      ownerEpoch: 0,
      manifestHash: null,
      app: null,
      toolCount: 0,
      client: null,
    });
    assert.deepEqual(await store.findLinkByLinkToken(link.linkTokenHash), found);
    assert.deepEqual(await store.findLinkByUrlToken(link.urlTokenHash), found);
    assert.equal(await store.findLinkByUrlToken(link.linkTokenHash), null);
    assert.equal(await store.getLink(mintLinkId(NOON)), null);
  });

  test("a link of a project that is not there is refused", async (t) => {
    const store = (await openFor(t, open)).store();
    const answer = await store.createLink(newLink(mintProjectId(NOON)), 10);
    assert.deepEqual(answer, { created: false, reason: "no_project" });
  });

  limitContract(open);
  changeContract(open);
  revokeContract(open);
}

function limitContract(open: OpenHarness): void {
  test("a project holds no more live links than it may, also when all come at once", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const other = await addProject(store);
    await addLink(store, other);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => store.createLink(newLink(projectId), 5)),
    );
    assert.equal(answers.filter(({ created }) => created).length, 5);
    assert.deepEqual(answers.at(-1), { created: false, reason: "limit_reached" });
  });

  test("at the limit the oldest link that never connected and is over an hour old gives way", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const connected = await addLink(store, projectId, { createdAt: NOON - 3 * HOUR });
    await store.claimLink({
      linkId: connected.linkId,
      node: "n1",
      manifest: manifestOf("1"),
      at: NOON,
    });
    const younger = await addLink(store, projectId, { createdAt: NOON - HOUR - 1 });
    const oldest = await addLink(store, projectId, { createdAt: NOON - 2 * HOUR });
    const fresh = await addLink(store, projectId, { createdAt: NOON - HOUR });
    const next = () => store.createLink(newLink(projectId), 4);
    assert.deepEqual(await next(), { created: true, gaveWay: oldest.linkId });
    assert.equal(await store.getLink(oldest.linkId), null);
    assert.deepEqual(await next(), { created: true, gaveWay: younger.linkId });
    assert.deepEqual(await next(), { created: false, reason: "limit_reached" });
    assert.notEqual(await store.getLink(connected.linkId), null);
    assert.notEqual(await store.getLink(fresh.linkId), null);
  });

  test("a revoked link does not count towards the limit", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const first = await addLink(store, projectId);
    assert.equal((await store.createLink(newLink(projectId), 1)).created, false);
    await store.revokeLink(first.linkId, NOON);
    await store.revokeLink(first.linkId, NOON);
    assert.equal((await store.createLink(newLink(projectId), 1)).created, true);
    assert.equal((await store.createLink(newLink(projectId), 1)).created, false);
  });
}

function changeContract(open: OpenHarness): void {
  test("a rotated link is known by its new URL token alone", async (t) => {
    const store = (await openFor(t, open)).store();
    const { link } = await addLinkedProject(store);
    const urlTokenHash = hashToken("ut_new");
    const sealedUrl = Buffer.from("sealed");
    const rotated = await store.rotateLink({ linkId: link.linkId, urlTokenHash, sealedUrl });
    assert.deepEqual(rotated, { before: new Uint8Array(link.urlTokenHash) });
    assert.equal(await store.findLinkByUrlToken(link.urlTokenHash), null);
    const found = await store.findLinkByUrlToken(urlTokenHash);
    assert.equal(found?.link.linkId, link.linkId);
    assert.deepEqual(found?.link.sealedUrl, new Uint8Array(sealedUrl));
    assert.equal(
      await store.rotateLink({ linkId: mintLinkId(NOON), urlTokenHash, sealedUrl: null }),
      "gone",
    );
  });

  test("a sealed URL is erased only while it is that of the URL token named", async (t) => {
    const store = (await openFor(t, open)).store();
    const { link, linkId } = await addLinkedProject(store);
    const urlTokenHash = hashToken("ut_new");
    await store.rotateLink({ linkId, urlTokenHash, sealedUrl: Buffer.from("sealed") });
    await store.forgetSealedUrl(linkId, link.urlTokenHash);
    assert.notEqual((await store.getLink(linkId))?.link.sealedUrl, null);
    await store.forgetSealedUrl(linkId, urlTokenHash);
    assert.equal((await store.getLink(linkId))?.link.sealedUrl, null);
  });

  test("pausing and labelling change a live link and say whether there was one", async (t) => {
    const store = (await openFor(t, open)).store();
    const { linkId } = await addLinkedProject(store);
    assert.equal(await store.setLinkPaused(linkId, true), true);
    assert.equal(await store.setLinkLabel(linkId, "Ada"), true);
    const { link } = (await store.getLink(linkId)) ?? {};
    assert.deepEqual([link?.paused, link?.label], [true, "Ada"]);
    assert.equal(await store.setLinkPaused(linkId, false), true);
    assert.equal(await store.setLinkLabel(linkId, null), true);
    const { link: after } = (await store.getLink(linkId)) ?? {};
    assert.deepEqual([after?.paused, after?.label], [false, null]);
    assert.equal(await store.setLinkPaused(mintLinkId(NOON), true), false);
    assert.equal(await store.setLinkLabel(mintLinkId(NOON), "Ada"), false);
  });

  test("the last client of a link is kept, at the latest when the store closes", async (t) => {
    const harness = await openFor(t, open);
    const { linkId } = await addLinkedProject(harness.store());
    for (const version of ["1", "2"])
      harness.store().noteClient(linkId, { name: "cursor", version });
    harness.store().noteClient(mintLinkId(NOON), { name: "nobody", version: "" });
    const found = await (await harness.reopen()).getLink(linkId);
    assert.deepEqual(found?.link.client, { name: "cursor", version: "2" });
  });
}

function revokeContract(open: OpenHarness): void {
  test("a revoked link is gone for hosts and apps, and stays revoked", async (t) => {
    const store = (await openFor(t, open)).store();
    const { link, linkId } = await addLinkedProject(store);
    const urlTokenHash = hashToken("ut_new");
    await store.rotateLink({ linkId, urlTokenHash, sealedUrl: Buffer.from("sealed") });
    assert.equal(await store.revokeLink(linkId, NOON + 1), true);
    assert.equal(await store.revokeLink(linkId, NOON + 2), true);
    assert.equal(await store.revokeLink(mintLinkId(NOON), NOON), false);
    assert.equal(await store.findLinkByUrlToken(urlTokenHash), null);
    assert.equal(await store.findLinkByLinkToken(link.linkTokenHash), null);
    const found = await store.getLink(linkId);
    assert.equal(found?.link.revokedAt, NOON + 1);
    assert.equal(found?.link.sealedUrl, null);
    const claim = { linkId, node: "n1", manifest: manifestOf("1"), at: NOON };
    assert.equal(await store.claimLink(claim), "gone");
    assert.equal(await store.getManifest(claim.manifest.hash), null);
    const rotation = { linkId, urlTokenHash: hashToken("ut_newer"), sealedUrl: null };
    assert.equal(await store.rotateLink(rotation), "gone");
    assert.equal(await store.setLinkPaused(linkId, true), false);
    assert.equal(await store.setLinkLabel(linkId, "Ada"), false);
  });
}
