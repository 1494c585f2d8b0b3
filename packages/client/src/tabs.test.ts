import assert from "node:assert/strict";
import { test } from "node:test";
import type { LinkRecord, LinkStore } from "./link-store.ts";
import { settled } from "./test/fake-clock.ts";
import { FakeLocks } from "./test/fake-locks.ts";
import { Stage } from "./test/test-app.ts";

/** The localStorage of one browser, as a store for each of its tabs. */
function browserStores(): () => LinkStore {
  let kept: LinkRecord | null = null;
  const watchers = new Map<LinkStore, () => void>();
  return () => {
    const store: LinkStore = {
      name: "relay",
      load: () => kept,
      save: (record) => {
        kept = record;
        for (const [other, onChange] of watchers) if (other !== store) onChange();
      },
      watch: (onChange) => {
        watchers.set(store, onChange);
        return () => watchers.delete(store);
      },
    };
    return store;
  };
}

function browser(): { readonly stage: Stage; readonly locks: FakeLocks; readonly tab: () => Tab } {
  const locks = new FakeLocks();
  const stage = new Stage({ locks, isPage: true });
  const storeOf = browserStores();
  return { stage, locks, tab: () => stage.app({}, storeOf()) };
}

type Tab = ReturnType<Stage["app"]>;

test("of two tabs one leads and one stands by, with one link and its URL in both", async () => {
  const { stage, tab } = browser();
  const [first, second] = [tab(), tab()];
  await Promise.all([first.relay.start(), second.relay.start()]);
  assert.deepEqual(first.states, ["connecting", "online"]);
  await settled();
  assert.deepEqual(second.states, ["connecting", "standby"]);
  assert.equal(stage.relay.links.length, 1);
  // The second tab came before there was a link; it hears of it as soon as there is one.
  assert.equal(second.relay.mcpUrl, stage.relay.link.mcpUrl);
});

test("when the leading tab closes, the one that stands by takes over at once", async () => {
  const { stage, tab } = browser();
  const [first, second] = [tab(), tab()];
  await first.relay.start();
  await second.relay.start();
  first.relay.stop();
  await settled();
  assert.deepEqual(second.states, ["connecting", "standby", "connecting", "online"]);
  assert.equal(stage.relay.links.length, 1);
  assert.equal((await stage.relay.link.call("echo", { text: "hi" })).text, "hi");
});

test("tabs take over in turn, and the last one to close ends it", async () => {
  const { stage, tab } = browser();
  const tabs = [tab(), tab(), tab()];
  for (const { relay } of tabs) await relay.start();
  for (const { relay } of tabs) {
    await settled();
    assert.equal(relay.state.status, "online");
    relay.stop();
  }
  assert.equal(stage.relay.link.isConnected, false);
});

test("a tab that waits in line and stops is passed over", async () => {
  const { tab } = browser();
  const [first, second, third] = [tab(), tab(), tab()];
  for (const { relay } of [first, second, third]) await relay.start();
  second.relay.stop();
  first.relay.stop();
  await settled();
  assert.equal(second.relay.state.status, "idle");
  assert.equal(third.relay.state.status, "online");
});

test("lead takes the link over from the other tab, which stands by and comes back later", async () => {
  const { tab } = browser();
  const [first, second] = [tab(), tab()];
  await first.relay.start();
  await second.relay.start();
  await settled();
  assert.equal(second.relay.mcpUrl, first.relay.mcpUrl);
  await second.relay.lead();
  await settled();
  assert.equal(second.relay.state.status, "online");
  assert.deepEqual(first.states, ["connecting", "online", "standby"]);
  second.relay.stop();
  await settled();
  assert.equal(first.relay.state.status, "online");
});

test("a rotation in the leading tab reaches the others", async () => {
  const { tab } = browser();
  const [first, second] = [tab(), tab()];
  await first.relay.start();
  await second.relay.start();
  await settled();
  const url = await first.relay.rotate();
  await settled();
  assert.equal(second.relay.mcpUrl, url);
  assert.equal(second.urls.at(-1), url);
});

test("a revoked link makes no tab create a new one: each says that it is closed", async () => {
  const { stage, tab } = browser();
  const [first, second] = [tab(), tab()];
  await first.relay.start();
  await second.relay.start();
  await first.relay.revoke();
  await settled();
  assert.equal(first.states.at(-1), "closed 4410");
  assert.equal(second.states.at(-1), "closed 4401");
  assert.equal(stage.relay.links.length, 1);
  await second.relay.relink();
  assert.equal(stage.relay.links.length, 2);
});

test("the leading tab is taken over by another device's copy: it waits, and comes back", async () => {
  const { stage, tab } = browser();
  const first = tab();
  await first.relay.start();
  stage.relay.close(4001);
  await settled();
  assert.deepEqual(first.states.slice(2), ["waiting 4001"]);
  await stage.clock.pass(1_000);
  assert.equal(first.relay.state.status, "online");
});

test("without locks, two tabs do not evict each other for ever", async () => {
  const stage = new Stage({ isPage: true });
  const storeOf = browserStores();
  const [first, second] = [stage.app({}, storeOf()), stage.app({}, storeOf())];
  await first.relay.start();
  await second.relay.start();
  await stage.clock.pass(600_000);
  assert.deepEqual(first.states, ["connecting", "online", "standby"]);
  assert.deepEqual(second.states, ["connecting", "online"]);
  first.relay.wake();
  await settled();
  assert.equal(first.relay.state.status, "online");
  assert.equal(second.relay.state.status, "standby");
});

test("where a page may have no locks, it goes on as if it were alone", async () => {
  const { locks, tab } = browser();
  locks.isRefusing = true;
  const first = tab();
  await first.relay.start();
  assert.deepEqual(first.states, ["connecting", "online"]);
});

test("two copies outside of browsers slow each other down, and never spin", async () => {
  const stage = new Stage();
  const { record } = stage.relay.createLink();
  const store = (): LinkStore => ({ load: () => record, save: () => undefined });
  const [one, other] = [stage.app({}, store()), stage.app({}, store())];
  await one.relay.start();
  await other.relay.start();
  await stage.clock.pass(600_000);
  const takeovers = [one, other].flatMap(({ states }) =>
    states.filter((state) => state === "waiting 4001"),
  );
  assert.ok(takeovers.length > 10 && takeovers.length < 60, `${takeovers.length} take-overs`);
});

test("a tab that stops before it was told whether it leads holds nobody up", async () => {
  const { tab } = browser();
  const [first, second] = [tab(), tab()];
  void first.relay.start();
  first.relay.stop();
  await second.relay.start();
  await settled();
  assert.equal(second.relay.state.status, "online");
  assert.equal(first.relay.state.status, "idle");
});
