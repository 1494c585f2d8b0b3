/** The client as React Native has it: one bundle without Node, in a world with few globals. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Script, createContext } from "node:vm";
import type { Relay, RelayState } from "@relay/client";
import { FakeRelay } from "@relay/client/testing";
import { bundleOfText } from "./bundle-of.ts";
import { SKIPPED } from "./test-packages.ts";

const APP = `
  import { appStateWakeUps, createRelay, secureStore, tool } from "@relay/client/react-native";

  globalThis.startApp = ({ relayUrl, publishableKey, keys, appState }) => createRelay({
    relayUrl,
    publishableKey,
    app: { name: "Notes", version: "1" },
    tools: [tool("search_notes", { description: "Searches", run: () => "3 notes" })],
    store: secureStore(keys),
    wakeUps: appStateWakeUps(appState),
  });
`;

/** What React Native's engine and its own modules put into the world; no page, no Node. */
function world(fake: FakeRelay): Record<string, unknown> {
  // Its polyfill has no reasons, no `any` and no `timeout`.
  class PlainSignal {
    aborted = false;
    readonly listeners: (() => void)[] = [];
    addEventListener(_type: string, listener: () => void): void {
      this.listeners.push(listener);
    }
  }
  class PlainAbortController {
    readonly signal = new PlainSignal();
    abort(): void {
      if (this.signal.aborted) return;
      this.signal.aborted = true;
      for (const listener of this.signal.listeners) listener();
    }
  }
  return createContext({
    setTimeout,
    clearTimeout,
    queueMicrotask,
    performance: { now: () => performance.now() },
    TextEncoder,
    fetch: fake.fetch,
    WebSocket: fake.WebSocket,
    AbortController: PlainAbortController,
  });
}

/** What newer engines have and that of React Native may not. */
const MISSING = `
  delete Promise.withResolvers;
  delete Promise.try;
  delete Object.groupBy;
  delete Map.groupBy;
  delete Array.fromAsync;
  delete globalThis.Iterator;
  delete Symbol.asyncDispose;
  for (const name of ["union", "intersection", "difference"]) delete Set.prototype[name];
`;

function fakeKeys() {
  const items = new Map<string, string>();
  return {
    items,
    getItemAsync: (key: string) => Promise.resolve(items.get(key) ?? null),
    setItemAsync: (key: string, value: string) => {
      items.set(key, value);
      return Promise.resolve();
    },
  };
}

function waitLeftMs(state: RelayState): number {
  return state.status === "waiting" ? state.retryAt - Date.now() : 0;
}

type StartApp = (options: object) => Relay;

test(
  "an app in React Native's world keeps its link in the key store, is called, and wakes up",
  { skip: SKIPPED },
  async () => {
    const code = await bundleOfText(APP);
    assert.doesNotMatch(code, /node:|\brequire\(|\bprocess\b|\bBuffer\b/);
    const fake = new FakeRelay();
    const keys = fakeKeys();
    let tell: ((state: string) => void) | null = null;
    const appState = {
      addEventListener: (_type: string, listener: (state: string) => void) => {
        tell = listener;
        return { remove: () => undefined };
      },
    };
    const context = world(fake);
    new Script(MISSING + code).runInContext(context);
    // The bundle puts it there.
    const startApp = context["startApp"] as StartApp;
    const start = (): Relay =>
      startApp({ relayUrl: fake.url, publishableKey: fake.publishableKey, keys, appState });

    const relay = start();
    await relay.start();
    assert.equal(relay.state.status, "online");
    assert.equal((await fake.link.call("search_notes")).text, "3 notes");
    // The record is text of the other world.
    const kept = JSON.parse(keys.items.get("relay") ?? "null") as { readonly mcpUrl: string };
    assert.equal(kept.mcpUrl, relay.mcpUrl);

    const becomes = (holds: (state: RelayState) => boolean): Promise<void> =>
      new Promise((resolve) => {
        relay.on("state", (state) => holds(state) && resolve());
      });
    // The third wait is 2 s or more, so that a second into it there is something to cut short.
    const waits = becomes((state) => state.status === "waiting" && state.attempt === 3);
    fake.isDown = true;
    fake.drop();
    await waits;
    fake.isDown = false;
    await new Promise((resolve) => {
      setTimeout(resolve, 1_050);
    });
    assert.ok(waitLeftMs(relay.state) > 500);
    const online = becomes(({ status }) => status === "online");
    const wokenAt = performance.now();
    (tell as ((state: string) => void) | null)?.("active");
    await online;
    assert.ok(performance.now() - wokenAt < 500);
    relay.stop();

    const again = start();
    await again.start();
    assert.equal(again.mcpUrl, relay.mcpUrl);
    assert.equal(fake.links.length, 1);
    again.stop();
  },
);
