import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore } from "./link-store.ts";
import { settled } from "./test/fake-clock.ts";
import { Stage } from "./test/test-app.ts";

test("rotate returns the new URL, which is kept before anybody hears of it twice", async () => {
  const stage = new Stage();
  const store = memoryStore();
  const app = await stage.online({}, store);
  const old = app.relay.mcpUrl;
  const url = await app.relay.rotate();
  assert.notEqual(url, old);
  assert.equal(url, stage.relay.link.mcpUrl);
  assert.equal(app.relay.mcpUrl, url);
  assert.equal((await store.load())?.mcpUrl, url);
  assert.deepEqual(app.urls, [old, url]);
});

test("pause and resume are told once each, whoever said them", async () => {
  const stage = new Stage();
  const app = await stage.online();
  await app.relay.pause();
  assert.equal(app.relay.paused, true);
  assert.equal((await stage.relay.link.call("echo")).outcome, "paused");
  await app.relay.pause();
  await app.relay.resume();
  stage.relay.link.pause();
  await settled();
  assert.deepEqual(app.paused, [true, false, true]);
});

test("a link that was paused while the app was away is paused at ready", async () => {
  const stage = new Stage();
  const app = await stage.online();
  app.relay.stop();
  stage.relay.link.pause();
  await app.relay.start();
  assert.deepEqual(app.paused, [true]);
});

test("revoke is answered, then the app stays away, and its store still has the dead link", async () => {
  const stage = new Stage();
  const store = memoryStore();
  const app = await stage.online({}, store);
  await app.relay.revoke();
  await settled();
  assert.equal(app.states.at(-1), "closed 4410");
  assert.deepEqual(await store.load(), stage.relay.link.record);
  await assert.rejects(stage.app({}, store).relay.start(), { code: 4401 });
  assert.equal(stage.relay.links.length, 1);
});

test("a rotation in the dashboard reaches the app and its store, also when it was away", async () => {
  const stage = new Stage();
  const store = memoryStore();
  const app = await stage.online({}, store);
  const { link } = stage.relay;
  link.rotate();
  await settled();
  assert.equal(app.relay.mcpUrl, link.mcpUrl);
  app.relay.stop();
  link.rotate();
  await app.relay.start();
  await settled();
  assert.equal(app.relay.mcpUrl, link.mcpUrl);
  assert.equal((await store.load())?.mcpUrl, link.mcpUrl);
});

test("a new URL that can't be kept is told all the same, with the error", async () => {
  const stage = new Stage();
  const store = { ...memoryStore(), save: () => Promise.reject(new Error("the disk is full")) };
  const app = await stage.online({}, { ...store, add: (record) => record });
  assert.equal(await app.relay.rotate(), stage.relay.link.mcpUrl);
  assert.deepEqual(app.errors, ["STORE: the disk is full"]);
});

test("a command without a connection is refused, and one under way when it is lost says so", async () => {
  const stage = new Stage();
  const app = stage.app();
  await assert.rejects(app.relay.pause(), { code: "NOT_ONLINE" });
  await app.relay.start();
  stage.relay.link.receive = () => undefined;
  const pausing = app.relay.pause();
  stage.relay.drop();
  await assert.rejects(pausing, { code: "CONNECTION_LOST" });
});

test("a command over the minute's budget is refused in Relay's words, and the socket stays", async () => {
  const stage = new Stage();
  const app = await stage.online();
  for (let sent = 0; sent < 30; sent += 1) await app.relay.pause();
  await assert.rejects(app.relay.resume(), {
    code: "rate_limited",
    message: "at most 30 ping frames and link commands a minute",
  });
  assert.equal(app.relay.state.status, "online");
  assert.deepEqual(app.errors, []);
  await stage.clock.pass(60_000);
  await app.relay.resume();
});
