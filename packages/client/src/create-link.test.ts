import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore } from "./link-store.ts";
import type { LinkRecord } from "./link-store.ts";
import { settled } from "./test/fake-clock.ts";
import { Stage } from "./test/test-app.ts";

for (const [what, code, breakIt] of [
  ["a wrong key", "UNAUTHORIZED", { publishableKey: "pk_wrong" }],
  ["a label that is too long", "VALIDATION_ERROR", { label: "x".repeat(65) }],
] as const) {
  test(`${what} keeps the app away`, async () => {
    const stage = new Stage();
    const app = stage.app(breakIt);
    await assert.rejects(app.relay.start(), { code });
    assert.deepEqual(app.states, ["connecting", `closed ${code}`]);
  });
}

test("an origin that is not allowed keeps the app away", async () => {
  const stage = new Stage();
  stage.relay.isOriginAllowed = false;
  await assert.rejects(stage.app().relay.start(), { code: "ORIGIN_NOT_ALLOWED" });
});

test("a suspended project is waited for, with a link and without", async () => {
  const stage = new Stage();
  const app = await stage.online();
  const newcomer = stage.app();
  stage.relay.suspend();
  void newcomer.relay.start();
  await stage.clock.pass(40_000);
  assert.equal(app.relay.state.status, "waiting");
  assert.equal(newcomer.relay.state.status, "waiting");
  stage.relay.suspend(false);
  await stage.clock.pass(30_000);
  assert.equal(app.relay.state.status, "online");
  assert.equal(newcomer.relay.state.status, "online");
});

test("Retry-After is kept to when links are created too fast", async () => {
  const stage = new Stage();
  const { fetch } = stage.relay;
  let isLimited = true;
  const app = stage.app({
    fetch: async (url, init) => {
      if (!isLimited) return fetch(url, init);
      const error = { code: "RATE_LIMITED", message: "Too many links", requestId: "req_1" };
      const headers = { get: (name: string) => (name === "retry-after" ? "42" : null) };
      return { status: 429, headers, json: () => Promise.resolve({ error }) };
    },
  });
  void app.relay.start();
  await stage.clock.pass(1);
  isLimited = false;
  await stage.clock.pass(41_000);
  assert.equal(app.relay.state.status, "waiting");
  await stage.clock.pass(1_000);
  assert.equal(app.relay.state.status, "online");
});

test("an answer that is not Relay's own, such as a proxy's page, is tried again", async () => {
  const stage = new Stage();
  const headers = { get: () => null };
  const app = stage.app({
    fetch: () =>
      Promise.resolve({ status: 404, headers, json: () => Promise.reject(new SyntaxError("<")) }),
  });
  void app.relay.start();
  await stage.clock.pass(1);
  assert.deepEqual(app.states, ["connecting", "waiting NETWORK"]);
});

test("a store that fails keeps the app away instead of making a second link", async () => {
  const stage = new Stage();
  const locked = memoryStore();
  const store = { ...locked, load: () => Promise.reject(new Error("the keychain is locked")) };
  const app = stage.app({}, store);
  await assert.rejects(app.relay.start(), { code: "STORE", message: "the keychain is locked" });
  assert.equal(stage.relay.links.length, 0);
});

test("a link that can't be kept is not used", async () => {
  const stage = new Stage();
  const save = (): never => {
    throw new Error("the disk is full");
  };
  const app = stage.app({}, { ...memoryStore(), save });
  await assert.rejects(app.relay.start(), { code: "STORE", message: "the disk is full" });
  assert.equal(stage.relay.link.isConnected, false);
});

test("copies of an app that create a link at once end up with one", async () => {
  const stage = new Stage();
  let kept: LinkRecord | null = null;
  const store = {
    ...memoryStore(),
    load: () => kept,
    add: (record: LinkRecord) => (kept ??= record),
  };
  const [one, other] = [stage.app({}, store), stage.app({}, store)];
  void one.relay.start();
  void other.relay.start();
  await settled();
  assert.equal(one.relay.mcpUrl, other.relay.mcpUrl);
  assert.equal(one.relay.mcpUrl, store.load()?.mcpUrl);
});

test("a stop ends the request that creates the link, and a start after it begins anew", async () => {
  const stage = new Stage();
  const signals: AbortSignal[] = [];
  const app = stage.app({
    fetch: async (url, init) => {
      signals.push(init.signal);
      if (signals.length > 1) return stage.relay.fetch(url, init);
      return new Promise((_, reject) => {
        init.signal.addEventListener("abort", () => reject(new Error("aborted")));
      });
    },
  });
  void app.relay.start();
  await settled();
  app.relay.stop();
  assert.equal(signals[0]?.aborted, true);
  await app.relay.start();
  assert.deepEqual(app.states, ["connecting", "idle", "connecting", "online"]);
});
