import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { LinkId, ProjectId } from "@relay/protocol";
import type { Link, LinkFilter, LinkSort, LinkState, ListedLink, Store } from "../store.ts";
import { openFor, seededRandom, seedOf } from "./harness.ts";
import type { OpenHarness } from "./harness.ts";
import { addLink, addProject, manifestOf, NOON } from "./records.ts";

const LABELS = ["Ada's Laptop", "ADA", "Büro", "BÜRO zwei", "zoë", "%", "a_b", null];
const SORTS: readonly LinkSort[] = [
  "-lastSeenAt",
  "lastSeenAt",
  "-createdAt",
  "createdAt",
  "label",
];
const STATES: readonly (LinkState | undefined)[] = [
  undefined,
  "online",
  "offline",
  "paused",
  "never",
  "revoked",
];

/** What every store must do when links are listed. */
export function linkListContract(open: OpenHarness): void {
  test("links are listed in any order by any filter, each on exactly one page", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const links = await addLinks(store, projectId, seededRandom(seedOf(t)));
    await addLinks(store, await addProject(store), seededRandom(1));
    for (const sort of SORTS) {
      for (const state of STATES) {
        for (const label of [undefined, "ada", "BÜ", "%", "nobody"]) {
          const filter: LinkFilter = {
            sort,
            ...(state === undefined ? {} : { state }),
            ...(label === undefined ? {} : { label }),
          };
          await assertListed(store, projectId, links, filter);
        }
      }
    }
  });

  test("trial links and people's are told apart in any order, each on exactly one page", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const links = await addLinks(store, projectId, seededRandom(seedOf(t)));
    const trials = links.filter(({ trial }) => trial);
    assert.ok(trials.length > 0 && trials.length < links.length);
    for (const sort of SORTS) {
      for (const trial of [true, false]) {
        await assertListed(store, projectId, links, { sort, trial });
        await assertListed(store, projectId, links, { sort, trial, state: "online", label: "a" });
        await assertListed(store, projectId, links, { sort, trial, state: "revoked" });
      }
    }
  });

  test("a listed link is the link, with what its manifest was warned about", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const { linkId } = await addLink(store, projectId);
    const sort = "-createdAt";
    const [unclaimed] = await linksOf(store, projectId, { sort }, 10);
    assert.deepEqual(unclaimed, { ...(await store.getLink(linkId))?.link, warnings: [] });
    const warnings = [{ path: "tools[0].name", message: "longer than 48 characters" }];
    const manifest = manifestOf("1", { warnings });
    await store.claimLink({ linkId, node: "n1", manifest, at: NOON });
    const [claimed] = await linksOf(store, projectId, { sort }, 10);
    assert.deepEqual(claimed, { ...(await store.getLink(linkId))?.link, warnings });
  });

  test("a cursor of one order is refused by another", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    for (const label of ["a", "b"]) await addLink(store, projectId, { label });
    const page = await store.listLinks(projectId, { sort: "label" }, { limit: 1, cursor: null });
    assert.ok(page !== "bad_cursor");
    const { nextCursor: cursor } = page;
    const list = (sort: LinkSort) => store.listLinks(projectId, { sort }, { limit: 1, cursor });
    assert.notEqual(await list("label"), "bad_cursor");
    for (const sort of SORTS.slice(0, 4)) assert.equal(await list(sort), "bad_cursor", sort);
  });
}

/** Fails unless the list holds the links that pass the filter, in order, a page of 7 at a time. */
async function assertListed(
  store: Store,
  projectId: ProjectId,
  links: readonly Link[],
  filter: LinkFilter,
): Promise<void> {
  const expected = links.filter((link) => passes(link, filter)).toSorted(orderOf(filter.sort));
  const found = await linksOf(store, projectId, filter, 7);
  assert.deepEqual(found.map(idOf), expected.map(idOf), JSON.stringify(filter));
}

/** Adds links in every state and returns them as the store shows them. */
async function addLinks(
  store: Store,
  projectId: ProjectId,
  random: () => number,
): Promise<readonly Link[]> {
  const links: Link[] = [];
  for (let at = 0; at < 60; at += 1) {
    const createdAt = NOON + Math.floor(random() * 20);
    const label = LABELS[Math.floor(random() * LABELS.length)] ?? null;
    const trial = at % 3 === 0;
    const { linkId } = await addLink(store, projectId, { createdAt, label, trial });
    if (random() < 0.7) {
      const seenAt = NOON + 100 + Math.floor(random() * 20);
      await store.claimLink({ linkId, node: "n1", manifest: manifestOf("1"), at: seenAt });
      if (random() < 0.5) await store.releaseLink(linkId, 1, seenAt, null);
    }
    if (random() < 0.3) await store.setLinkPaused(linkId, true);
    if (random() < 0.2) await store.revokeLink(linkId, NOON + 200);
    const found = await store.getLink(linkId);
    assert.ok(found !== null);
    links.push(found.link);
  }
  return links;
}

function passes(link: Link, { state, label, trial }: LinkFilter): boolean {
  if (trial !== undefined && link.trial !== trial) return false;
  if ((link.revokedAt !== null) !== (state === "revoked")) return false;
  if (state === "online" && link.ownerNode === null) return false;
  if (state === "offline" && link.ownerNode !== null) return false;
  if (state === "paused" && !link.paused) return false;
  if (state === "never" && link.lastSeenAt !== null) return false;
  if (label === undefined) return true;
  return link.label !== null && link.label.toLowerCase().includes(label.toLowerCase());
}

function orderOf(sort: LinkSort): (a: Link, b: Link) => number {
  const ascending = (a: Link, b: Link): number => {
    if (sort === "label")
      return byText(sortedLabel(a), sortedLabel(b)) || byText(a.linkId, b.linkId);
    const value = (link: Link) =>
      sort.endsWith("createdAt") ? link.createdAt : (link.lastSeenAt ?? 0);
    return value(a) - value(b) || byText(a.linkId, b.linkId);
  };
  return sort.startsWith("-") ? (a, b) => ascending(b, a) : ascending;
}

/** Links without a label come last. */
function sortedLabel({ label }: Link): string {
  return label === null ? "\u{10ffff}" : label.toLowerCase();
}

function byText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function idOf({ linkId }: Link): LinkId {
  return linkId;
}

async function linksOf(
  store: Store,
  projectId: ProjectId,
  filter: LinkFilter,
  limit: number,
): Promise<ListedLink[]> {
  const links: ListedLink[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.listLinks(projectId, filter, { limit, cursor });
    assert.ok(page !== "bad_cursor");
    links.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return links;
}
