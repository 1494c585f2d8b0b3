import assert from "node:assert/strict";
import { test } from "node:test";
import type { CloseCode } from "@relay/protocol";
import { createRelay } from "./relay.ts";
import { RelayError } from "./relay-error.ts";
import { memoryStore } from "./link-store.ts";
import { tool } from "./tool.ts";
import { settled } from "./test/fake-clock.ts";
import { ECHO, Stage } from "./test/test-app.ts";

test("start creates a link once, keeps it, and is online", async () => {
  const stage = new Stage();
  const store = memoryStore();
  const app = stage.app({ label: "Anna's laptop" }, store);
  assert.deepEqual(app.relay.state, { status: "idle" });
  await app.relay.start();
  const { link } = stage.relay;
  assert.deepEqual(app.states, ["connecting", "online"]);
  assert.deepEqual(await store.load(), link.record);
  assert.equal(link.label, "Anna's laptop");
  assert.equal(app.relay.mcpUrl, link.mcpUrl);
  assert.deepEqual(app.urls, [link.mcpUrl]);
  await stage.online({}, store);
  assert.equal(stage.relay.links.length, 1);
});

test("the hello says what the app is, and the token is in nothing else", async () => {
  const stage = new Stage();
  const app = await stage.online({ instructions: "Ask before you delete." });
  const { manifest, linkToken } = stage.relay.link;
  assert.deepEqual(manifest?.app, { name: "Notes", version: "1.4.2" });
  assert.equal(manifest?.instructions, "Ask before you delete.");
  assert.deepEqual(manifest?.tools, [JSON.parse(JSON.stringify(ECHO.definition))]);
  assert.doesNotMatch(JSON.stringify([app.relay, manifest.tools]), new RegExp(linkToken));
});

test("a label that can't be had is no reason to stay away", async () => {
  const stage = new Stage();
  await stage.online({ label: () => Promise.reject(new Error("no name")) });
  assert.equal(stage.relay.link.label, null);
});

const RETRIED: readonly CloseCode[] = [1002, 1007, 1008, 1011, 1012, 4001, 4400, 4423, 4429];
for (const code of RETRIED) {
  test(`closed with ${code} an app is back after a second, with the same link`, async () => {
    const stage = new Stage();
    const app = await stage.online();
    app.takeNews();
    stage.relay.close(code);
    await stage.clock.pass(999);
    assert.deepEqual(app.takeNews(), [`waiting ${code}`]);
    await stage.clock.pass(1);
    assert.deepEqual(app.takeNews(), ["connecting", "online"]);
    assert.equal(stage.relay.links.length, 1);
  });
}

const FINAL: readonly CloseCode[] = [4401, 4403, 4410];
for (const code of FINAL) {
  test(`closed with ${code} an app stays away, and says why`, async () => {
    const stage = new Stage();
    const app = await stage.online();
    app.takeNews();
    stage.relay.close(code);
    await stage.clock.pass(3_600_000);
    assert.deepEqual(app.takeNews(), [`closed ${code}`]);
    assert.equal(stage.relay.links.length, 1);
    assert.equal(stage.clock.timers, 0);
  });
}

test("a link that is unknown is never replaced by itself; relink replaces it when asked", async () => {
  const stage = new Stage();
  const store = memoryStore({ linkId: "", linkToken: "lt_gone", mcpUrl: "http://relay.test/old" });
  const app = stage.app({}, store);
  await assert.rejects(app.relay.start(), { code: 4401, message: /unknown or revoked/ });
  await assert.rejects(app.relay.start(), { code: 4401 });
  assert.equal(stage.relay.links.length, 0);
  assert.equal((await store.load())?.linkToken, "lt_gone");
  await app.relay.relink();
  assert.equal(app.relay.mcpUrl, stage.relay.link.mcpUrl);
  assert.deepEqual(await store.load(), stage.relay.link.record);
});

test("waiting says when, by the device's own clock, and why", async () => {
  const stage = new Stage();
  const app = await stage.online();
  stage.random = 0;
  stage.relay.drop();
  await settled();
  assert.deepEqual(app.relay.state, {
    status: "waiting",
    reason: { code: 1006, message: "No connection to Relay." },
    waitMs: 500,
    retryAt: stage.clock.wall() + 500,
    attempt: 1,
  });
});

test("a hello that Relay refuses says what is wrong, and new tools are tried a second later", async () => {
  const stage = new Stage();
  const app = await stage.online();
  const { link } = stage.relay;
  const hello = link.hello.bind(link);
  link.hello = () => ({ code: 4400, message: "tools[0].inputSchema is not a valid JSON Schema" });
  stage.relay.drop();
  await stage.clock.pass(1_000);
  assert.equal(app.relay.state.status, "waiting");
  assert.match(JSON.stringify(app.relay.state), /4400.*tools\[0\].inputSchema is not a valid/);
  assert.match(app.errors.join(), /^invalid_message: tools\[0\]/);
  await stage.clock.pass(14_000);
  link.hello = hello;
  app.relay.setTools([]);
  await stage.clock.pass(1_000);
  assert.equal(app.relay.state.status, "online");
});

test("while Relay is down an app tries on, and start resolves when it is back", async () => {
  const stage = new Stage();
  stage.relay.isDown = true;
  const app = stage.app();
  const started = app.relay.start();
  await stage.clock.pass(60_000);
  assert.match(app.takeNews().join(" "), /^connecting waiting NETWORK connecting waiting NETWORK/);
  stage.relay.isDown = false;
  await stage.clock.pass(30_000);
  await started;
  assert.equal(stage.relay.links.length, 1);
});

test("stop leaves at once and for good; start comes back", async () => {
  const stage = new Stage();
  const app = await stage.online();
  app.relay.stop();
  await stage.clock.pass(60_000);
  assert.equal(stage.relay.link.isConnected, false);
  assert.deepEqual(app.relay.state, { status: "idle" });
  assert.equal(stage.clock.timers, 0);
  await app.relay.start();
  assert.equal(stage.relay.links.length, 1);
});

test("stop while the link is created ends it, and start rejects", async () => {
  const stage = new Stage();
  const app = stage.app();
  const started = app.relay.start();
  app.relay.stop();
  await assert.rejects(started, { code: "STOPPED" });
  await settled();
  assert.deepEqual(app.states, ["connecting", "idle"]);
});

test("a listener may start, relink and stop, and one that throws disturbs nobody", async (t) => {
  const stage = new Stage();
  const thrown: (() => void)[] = [];
  t.mock.method(globalThis, "queueMicrotask", (run: () => void) => {
    if (String(run).includes("throw")) thrown.push(run);
    else void Promise.resolve().then(run);
  });
  const app = stage.app();
  let relinked = Promise.reject<void>(new Error("not yet"));
  relinked.catch(() => undefined);
  app.relay.on("state", (state) => {
    if (state.status === "closed") relinked = app.relay.relink();
    if (state.status === "online") throw new Error("a bug of the app's");
  });
  await app.relay.start();
  stage.relay.link.revoke();
  await settled();
  await relinked;
  assert.deepEqual(app.states, ["connecting", "online", "closed 4410", "connecting", "online"]);
  assert.equal(stage.relay.links.length, 2);
  assert.throws(() => thrown[0]?.(), { message: "a bug of the app's" });
  assert.equal(thrown.length, 2);
});

test("outside of a page a store must be given", () => {
  const app = { name: "Notes", version: "1" };
  const options = { relayUrl: "http://localhost:1", publishableKey: "pk_", app, tools: [] };
  assert.throws(() => createRelay(options), RelayError);
});

test("a slash behind Relay's URL makes no difference, and its path is kept", async () => {
  const stage = new Stage();
  const asked: string[] = [];
  const { fetch, WebSocket } = stage.relay;
  const app = stage.app({
    relayUrl: `${stage.relay.url}/`,
    fetch: (url, init) => {
      asked.push(url);
      return fetch(url, init);
    },
    WebSocket: class extends WebSocket {
      constructor(url: string) {
        super(url);
        asked.push(url);
      }
    },
  });
  await app.relay.start();
  assert.deepEqual(asked, ["http://relay.test/v1/links", "ws://relay.test/v1/socket"]);
});

test("a runtime that refuses the socket's URL is a reason to wait, not a crash", async () => {
  const stage = new Stage();
  const app = stage.app({
    // The type of `new` has no `throws`.
    WebSocket: function refuse() {
      throw new DOMException("insecure", "SecurityError");
    } as never,
  });
  void app.relay.start();
  await settled();
  assert.deepEqual(app.states, ["connecting", "waiting 1006"]);
});

test("an app's own wake-ups cut a wait short, until it stops", async () => {
  const stage = new Stage();
  let wake: (() => void) | null = null;
  const app = await stage.online({
    wakeUps: (listener) => {
      wake = listener;
      return () => {
        wake = null;
      };
    },
  });
  stage.relay.isDown = true;
  stage.relay.drop();
  await stage.clock.pass(60_000);
  stage.relay.isDown = false;
  stage.clock.now += 1_000;
  (wake as (() => void) | null)?.();
  await settled();
  assert.equal(app.relay.state.status, "online");
  app.relay.stop();
  assert.equal(wake, null);
});

test("a socket that dies without a word is left within 35 s", async () => {
  const stage = new Stage();
  const app = await stage.online();
  const { link } = stage.relay;
  link.receive = () => undefined;
  app.takeNews();
  await stage.clock.pass(34_999);
  assert.deepEqual(app.takeNews(), []);
  await stage.clock.pass(1);
  assert.deepEqual(app.takeNews(), ["waiting 1006"]);
});

test("a day of quiet costs no more than three pings a minute, and no reconnect", async () => {
  const stage = new Stage();
  const app = await stage.online();
  const { link } = stage.relay;
  const receive = link.receive.bind(link);
  let pings = 0;
  link.receive = (text) => {
    pings += text.includes("ping") ? 1 : 0;
    receive(text);
  };
  app.takeNews();
  await stage.clock.pass(24 * 3_600_000);
  assert.deepEqual(app.takeNews(), []);
  assert.ok(pings > 3_000 && pings <= 24 * 60 * 3, `${pings} pings`);
});

test("tools, once defined, can be replaced: hosts see the new ones after a short reconnect", async () => {
  const stage = new Stage();
  const app = await stage.online();
  const twice = tool("twice", { description: "Says it twice", run: () => "hello hello" });
  app.relay.setTools([ECHO, twice]);
  assert.deepEqual(app.relay.tools, [ECHO, twice]);
  await stage.clock.pass(1_000);
  assert.deepEqual(
    stage.relay.link.tools.map(({ name }) => name),
    ["echo", "twice"],
  );
  assert.equal((await stage.relay.link.call("twice")).text, "hello hello");
});

test("tools that differ in nothing a host can see are replaced without a reconnect", async () => {
  const stage = new Stage();
  const app = await stage.online();
  const louder = tool("echo", {
    description: "Says it again",
    input: { type: "object", properties: { text: { type: "string" } } },
    run: ({ text = "" }) => text.toUpperCase(),
  });
  app.takeNews();
  app.relay.setTools([louder]);
  await stage.clock.pass(5_000);
  assert.deepEqual(app.takeNews(), []);
  assert.equal((await stage.relay.link.call("echo", { text: "hi" })).text, "HI");
});

test("tools that break a limit are refused where they are set, and the old ones stay", async () => {
  const stage = new Stage();
  const app = await stage.online();
  assert.throws(() => app.relay.setTools([ECHO, ECHO]), {
    code: "INVALID_MANIFEST",
    message: "tools[1].name is the name of tools[0] too",
  });
  assert.deepEqual(app.relay.tools, [ECHO]);
});

test("an old complaint of Relay's is not the reason of a later loss", async () => {
  const stage = new Stage();
  const app = await stage.online();
  const { link } = stage.relay;
  app.relay.on("call", () => undefined);
  link.receive('{"type":"nonsense"}');
  await settled();
  stage.relay.drop();
  await settled();
  assert.match(app.errors.join(), /unknown frame type/);
  assert.match(JSON.stringify(app.relay.state), /"code":1006,"message":"No connection to Relay\."/);
});
