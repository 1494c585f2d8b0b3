/**
 * What an app and its hosts see of a Relay, as tests that run against the real one and against
 * `FakeRelay`: what an app's tests find out with the fake is then true of the real one.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LinkRecord } from "@relay/client";
import { createLink } from "../../packages/client/src/create-link.ts";
import type { LinkFetch } from "../../packages/client/src/create-link.ts";
import type { SocketConstructor } from "../../packages/client/src/runtime.ts";
import { RawApp } from "./raw-app.ts";
import type { Frame } from "./raw-app.ts";

/** What a host gets for a call; `text` is also the message of a JSON-RPC error. */
export type HostSees = {
  readonly isError: boolean;
  readonly text: string;
  readonly content: readonly unknown[];
  readonly structuredContent: unknown;
};

export type HostOptions = {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: object) => void;
};

/** A Relay with one project and limits short enough to wait for, under test. */
export type RelayUnderTest = {
  readonly relayUrl: string;
  readonly publishableKey: string;
  readonly fetch: LinkFetch;
  readonly WebSocket: SocketConstructor;
  call(mcpUrl: string, tool: string, args: object, options?: HostOptions): Promise<HostSees>;
  toolNames(mcpUrl: string): Promise<string[]>;
  /** What the developer does in the dashboard. */
  act(linkId: string, action: "rotate" | "pause" | "resume" | "revoke"): Promise<void>;
  suspend(isSuspended: boolean): Promise<void>;
  /** Loses every connection, as a proxy does that restarts. */
  drop(): void;
  close(): Promise<void>;
};

export const CONTRACT_LIMITS = { callTimeoutSeconds: 1, helloTimeoutSeconds: 0.5 } as const;

const SEARCH = {
  name: "search_notes",
  description: "Full-text search",
  inputSchema: { type: "object", properties: { query: { type: "string" } } },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
} as const;
const COUNT = {
  ...SEARCH,
  name: "count_notes",
  outputSchema: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
} as const;

/** Runs the contract against the Relay that `open` opens anew for each test. */
export function relayContract(name: string, open: () => Promise<RelayUnderTest>): void {
  const promise = (what: string, run: (relay: Scene) => Promise<void>): void => {
    test(`${name}: ${what}`, async () => {
      const relay = await open();
      const scene = new Scene(relay);
      try {
        await run(scene);
      } finally {
        scene.leave();
        await relay.close();
      }
    });
  };
  linkPromises(promise);
  helloPromises(promise);
  callPromises(promise);
  refusalPromises(promise);
  commandPromises(promise);
}

type Promises = (what: string, run: (scene: Scene) => Promise<void>) => void;

/** A Relay under test and the apps of one test. */
class Scene {
  readonly relay: RelayUnderTest;
  readonly #apps: RawApp[] = [];

  constructor(relay: RelayUnderTest) {
    this.relay = relay;
  }

  link(publishableKey = this.relay.publishableKey, label?: string): Promise<LinkRecord> {
    const { fetch, relayUrl } = this.relay;
    return createLink(fetch, relayUrl, publishableKey, label, new AbortController().signal);
  }

  socket(): RawApp {
    const { relayUrl, WebSocket } = this.relay;
    const app = new RawApp(new WebSocket(`${relayUrl.replace(/^http/, "ws")}/v1/socket`));
    this.#apps.push(app);
    return app;
  }

  /** An app that has said hello. */
  async hello(token: string, more: Frame = {}): Promise<RawApp> {
    const app = this.socket();
    await app.opened;
    app.send({ ...helloOf(token), ...more });
    return app;
  }

  /** A link with an app that is ready. */
  async ready(more: Frame = {}): Promise<{ link: LinkRecord; app: RawApp }> {
    const link = await this.link();
    const app = await this.hello(link.linkToken, more);
    await app.next("ready");
    return { link, app };
  }

  call(link: LinkRecord, args: object = {}, options?: HostOptions, tool = "search_notes") {
    return this.relay.call(link.mcpUrl, tool, args, options);
  }

  leave(): void {
    for (const app of this.#apps) app.leave();
  }
}

function helloOf(token: string): Frame {
  const app = { name: "Notes", version: "1.4.2" };
  return { type: "hello", protocol: 1, token, app, tools: [SEARCH, COUNT] };
}

function linkPromises(promise: Promises): void {
  promise("a link is created with the publishable key", async (scene) => {
    const link = await scene.link();
    assert.match(link.linkToken, /^lt_[0-9A-Za-z]{32}$/);
    assert.match(link.mcpUrl, /^https?:.*\/v1\/mcp\/ut_[0-9A-Za-z]{32}$/);
    assert.match(link.linkId, /^[0-9a-f-]{36}$/);
    assert.deepEqual(await scene.relay.toolNames(link.mcpUrl), []);
  });

  promise("a wrong key and a long label are refused for good", async (scene) => {
    await assert.rejects(scene.link("pk_wrong"), {
      code: "UNAUTHORIZED",
      message: "Missing or invalid publishable key",
      retryAfterMs: null,
    });
    const label = "x".repeat(65);
    await assert.rejects(scene.link(scene.relay.publishableKey, label), {
      code: "VALIDATION_ERROR",
      retryAfterMs: null,
    });
  });

  promise("a suspended project creates no links for now, and closes with 4423", async (scene) => {
    const { link, app } = await scene.ready();
    await scene.relay.suspend(true);
    assert.equal((await app.closed).code, 4423);
    await assert.rejects(scene.link(), { code: "PROJECT_SUSPENDED", retryAfterMs: 0 });
    assert.equal((await (await scene.hello(link.linkToken)).closed).code, 4423);
    await scene.relay.suspend(false);
    assert.equal((await (await scene.hello(link.linkToken)).next("ready")).linkId, link.linkId);
  });
}

function helloPromises(promise: Promises): void {
  promise("hello is answered with ready, and the tools are listed", async (scene) => {
    const link = await scene.link();
    const app = await scene.hello(link.linkToken);
    assert.deepEqual(await app.next("ready"), {
      type: "ready",
      linkId: link.linkId,
      paused: false,
      limits: { callTimeoutSeconds: 1, resultMaxBytes: 131_072 },
    });
    assert.deepEqual(await scene.relay.toolNames(link.mcpUrl), ["search_notes", "count_notes"]);
  });

  promise("a token that nobody has closes with 4401, without an error frame", async (scene) => {
    for (const token of [`lt_${"0".repeat(31)}x`, "nonsense"]) {
      const app = await scene.hello(token);
      const { code, reason } = await app.closed;
      assert.deepEqual([code, reason], [4401, "unknown or revoked link token"]);
      assert.deepEqual(app.frames, []);
    }
  });

  promise("a hello that breaks a rule is told which one, then closed with 4400", async (scene) => {
    const { linkToken } = await scene.link();
    const faults: [Frame, string][] = [
      [{ protocol: 2 }, "protocol 2 is not supported; this Relay speaks 1"],
      [{ tools: "none" }, "tools must be an array"],
      [{ app: { name: "", version: "1" } }, "app.name must be a string of 1 to 64 characters"],
      [{ tools: [{ ...SEARCH, name: "a b" }] }, "tools[0].name must be 1 to 64 of the characters"],
      [{ tools: [SEARCH, SEARCH] }, "tools[1].name is the name of tools[0] too"],
      [{ instructions: "x".repeat(4_001) }, "instructions must be at most 4000 characters"],
    ];
    for (const [more, message] of faults) {
      const app = await scene.hello(linkToken, more);
      const frame = await app.next("error");
      assert.deepEqual([frame.id, frame.code], [null, "invalid_message"]);
      assert.ok(String(frame.message).startsWith(message), String(frame.message));
      const { code, reason } = await app.closed;
      assert.deepEqual([code, reason], [4400, "invalid hello or too many invalid frames"]);
    }
  });

  promise(
    "what is not hello, and a hello that does not come, is closed with 4400",
    async (scene) => {
      const early = scene.socket();
      await early.opened;
      early.send({ type: "ping" });
      assert.equal((await early.next("error")).message, "the first frame must be hello");
      assert.equal((await early.closed).code, 4400);
      const silent = scene.socket();
      assert.equal((await silent.closed).code, 4400);
      assert.equal(silent.frames[0]?.code, "invalid_message");
    },
  );

  promise("the newest socket wins, and calls of the older one are lost", async (scene) => {
    const { link, app } = await scene.ready();
    const lost = scene.call(link);
    await app.next("call");
    const newer = await scene.hello(link.linkToken);
    assert.deepEqual(await app.closed, {
      code: 4001,
      reason: "a newer socket took over the link",
    });
    await newer.next("ready");
    assert.equal(
      (await lost).text,
      "The relay lost the connection to Notes while running the tool; it may or may not have completed.",
    );
  });

  promise("a hello that is refused leaves the older socket alone", async (scene) => {
    const { link, app } = await scene.ready();
    assert.equal((await (await scene.hello(link.linkToken, { tools: 1 })).closed).code, 4400);
    app.send({ type: "ping" });
    await app.next("pong");
  });

  promise(
    "a second hello on a socket, and nonsense, are strikes; the 11th closes",
    async (scene) => {
      const { link, app } = await scene.ready();
      app.send(helloOf(link.linkToken));
      assert.equal(
        (await app.next("error")).message,
        "hello was already accepted; reconnect to change it",
      );
      for (let strike = 2; strike <= 11; strike += 1) app.send({ type: "nonsense" });
      assert.equal((await app.closed).code, 4400);
      assert.equal(app.frames.filter(({ type }) => type === "error").length, 11);
    },
  );

  promise("a lost connection is 1006 for the app, and its calls are lost", async (scene) => {
    const { link, app } = await scene.ready();
    const lost = scene.call(link);
    await app.next("call");
    scene.relay.drop();
    assert.equal((await app.closed).code, 1006);
    assert.match((await lost).text, /^The relay lost the connection to Notes/);
  });
}

function callPromises(promise: Promises): void {
  promise("a call reaches the app, and its result the host", async (scene) => {
    const { link, app } = await scene.ready();
    const answer = scene.call(link, { query: "tulips" });
    const call = await app.next("call");
    assert.deepEqual(Object.keys(call), ["type", "id", "tool", "arguments", "deadline"]);
    assert.match(String(call.id), /^c_[0-9A-Za-z]{16}$/);
    assert.deepEqual([call.tool, call.arguments], ["search_notes", { query: "tulips" }]);
    assert.match(String(call.deadline), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const content = [{ type: "text", text: "3 notes" }];
    app.send({ type: "result", id: call.id, content, structuredContent: { count: 3 } });
    const seen = await answer;
    assert.deepEqual([seen.isError, seen.content], [false, content]);
    assert.deepEqual(seen.structuredContent, { count: 3 });
  });

  promise("an app's error is the call's text", async (scene) => {
    const { link, app } = await scene.ready();
    const answer = scene.call(link);
    const { id } = await app.next("call");
    app.send({ type: "error", id, message: "database is locked" });
    const { isError, text } = await answer;
    assert.deepEqual([isError, text], [true, "database is locked"]);
  });

  promise("an answer that breaks a rule ends the call, and both sides hear why", async (scene) => {
    const { link, app } = await scene.ready();
    const broken: [string, Frame, RegExp][] = [
      ["search_notes", { content: "text" }, /^content must be an array$/],
      ["search_notes", {}, /^content is missing$/],
      ["search_notes", { content: [], structuredContent: [] }, /^structuredContent must be an obj/],
      ["search_notes", { content: [], isError: "no" }, /^isError must be a boolean$/],
      ["count_notes", { content: [] }, /^structuredContent is missing, and the tool has an output/],
      [
        "search_notes",
        { content: [{ type: "text", text: "x".repeat(131_072) }] },
        /^content and structuredContent together must be at most 131072 bytes as JSON, not 131099$/,
      ],
    ];
    for (const [tool, result, why] of broken) {
      const answer = scene.call(link, {}, undefined, tool);
      const { id } = await app.next("call");
      app.send({ type: "result", id, ...result });
      const { isError, text } = await answer;
      assert.equal(isError, true);
      const prefix = "The app sent an answer the relay could not accept: ";
      assert.ok(text.startsWith(prefix), text);
      assert.match(text.slice(prefix.length), why);
      const frame = await app.next("error");
      assert.deepEqual([frame.id, frame.code], [id, "invalid_result"]);
      assert.match(String(frame.message), why);
    }
  });

  promise("a result that is an error passes, without its structuredContent", async (scene) => {
    const { link, app } = await scene.ready();
    const answer = scene.call(link, {}, undefined, "count_notes");
    const { id } = await app.next("call");
    const content = [{ type: "text", text: "no notes" }];
    app.send({ type: "result", id, content, structuredContent: { count: "x" }, isError: true });
    const { isError, text, structuredContent } = await answer;
    assert.deepEqual([isError, text, structuredContent], [true, "no notes", undefined]);
  });

  promise("a host that goes away cancels, and what comes later is dropped", async (scene) => {
    const { link, app } = await scene.ready();
    const host = new AbortController();
    const gone = scene.call(link, {}, { signal: host.signal }).catch(() => null);
    const { id } = await app.next("call");
    host.abort();
    assert.deepEqual(await app.next("cancel"), { type: "cancel", id });
    await gone;
    app.send({ type: "result", id, content: [] });
    app.send({ type: "ping" });
    await app.next("pong");
    assert.ok(app.frames.every(({ type }) => type !== "error"));
  });

  promise("a call that nobody answers in time is told so, and cancelled", async (scene) => {
    const { link, app } = await scene.ready();
    const answer = scene.call(link);
    const { id } = await app.next("call");
    const { isError, text } = await answer;
    assert.deepEqual([isError, text], [true, "Notes did not answer within 1 second."]);
    assert.deepEqual(await app.next("cancel"), { type: "cancel", id });
  });

  promise("progress reaches a host that wants it, while it grows", async (scene) => {
    const { link, app } = await scene.ready();
    const heard: object[] = [];
    const answer = scene.call(link, {}, { onProgress: (progress) => heard.push(progress) });
    const { id } = await app.next("call");
    app.send({ type: "progress", id, progress: 1, total: 3, message: "reading" });
    app.send({ type: "progress", id, progress: 1 });
    app.send({ type: "progress", id, progress: 2 });
    app.send({ type: "result", id, content: [] });
    await answer;
    assert.deepEqual(heard, [{ progress: 1, total: 3, message: "reading" }, { progress: 2 }]);
  });
}

function refusalPromises(promise: Promises): void {
  promise(
    "a call without its app is refused in the app's name, or the project's",
    async (scene) => {
      const link = await scene.link();
      const app = await scene.hello(link.linkToken, { app: { name: "Garden", version: "1" } });
      await app.next("ready");
      app.leave();
      await app.closed;
      await untilText(() => scene.call(link), /^Garden is not running on your device/);
    },
  );

  promise("an unknown tool is refused before any app", async (scene) => {
    const { link } = await scene.ready();
    const { text } = await scene.call(link, {}, undefined, "toString");
    assert.equal(text, "Unknown tool: toString");
  });

  promise("the ninth call at once is refused", async (scene) => {
    const { link, app } = await scene.ready();
    const calls = Array.from({ length: 8 }, () => scene.call(link));
    for (let count = 0; count < 8; count += 1) await app.next("call");
    const { text } = await scene.call(link);
    assert.equal(text, "Notes is busy with other calls. Try again in a moment.");
    await Promise.all(calls);
  });
}

function commandPromises(promise: Promises): void {
  promise("pause, resume and rotate answer with the command's id", async (scene) => {
    const { link, app } = await scene.ready();
    app.send({ type: "link.pause", id: "p" });
    assert.deepEqual(await app.next("link.state"), { type: "link.state", id: "p", paused: true });
    const { text } = await scene.call(link);
    assert.equal(text, "Notes is paused in the app. Resume it there and try again.");
    app.send({ type: "link.resume", id: "r" });
    assert.deepEqual(await app.next("link.state"), { type: "link.state", id: "r", paused: false });
    app.send({ type: "link.rotate", id: "n" });
    const rotated = await app.next("link.rotated");
    assert.equal(rotated.id, "n");
    assert.notEqual(rotated.mcpUrl, link.mcpUrl);
    const names = await scene.relay.toolNames(String(rotated.mcpUrl));
    assert.deepEqual(names, ["search_notes", "count_notes"]);
  });

  promise("revoke answers, closes with 4410, and the token is dead", async (scene) => {
    const { link, app } = await scene.ready();
    app.send({ type: "link.revoke", id: "x" });
    assert.deepEqual(await app.next("link.revoked"), { type: "link.revoked", id: "x" });
    assert.equal((await app.closed).code, 4410);
    assert.equal((await (await scene.hello(link.linkToken)).closed).code, 4401);
  });

  promise("what the developer does arrives with id null", async (scene) => {
    const { link, app } = await scene.ready();
    await scene.relay.act(link.linkId, "pause");
    assert.deepEqual(await app.next("link.state"), { type: "link.state", id: null, paused: true });
    await scene.relay.act(link.linkId, "resume");
    await app.next("link.state");
    await scene.relay.act(link.linkId, "rotate");
    assert.equal((await app.next("link.rotated")).id, null);
    await scene.relay.act(link.linkId, "revoke");
    assert.deepEqual(await app.next("link.revoked"), { type: "link.revoked", id: null });
    assert.equal((await app.closed).code, 4410);
  });

  promise("what happened while the app was away comes with and after ready", async (scene) => {
    const { link, app } = await scene.ready();
    app.leave();
    await app.closed;
    await scene.relay.act(link.linkId, "pause");
    await scene.relay.act(link.linkId, "rotate");
    const back = await scene.hello(link.linkToken);
    assert.equal((await back.next("ready")).paused, true);
    const rotated = await back.next("link.rotated");
    assert.equal(rotated.id, null);
    assert.notEqual(rotated.mcpUrl, link.mcpUrl);
  });

  promise("pings and commands share 30 a minute", async (scene) => {
    const { app } = await scene.ready();
    for (let sent = 0; sent < 29; sent += 1) app.send({ type: "ping" });
    for (let sent = 0; sent < 29; sent += 1) await app.next("pong");
    app.send({ type: "link.pause", id: "last" });
    await app.next("link.state");
    app.send({ type: "link.resume", id: "over" });
    assert.deepEqual(await app.next("error"), {
      type: "error",
      id: "over",
      code: "rate_limited",
      message: "at most 30 ping frames and link commands a minute",
    });
    app.send({ type: "ping" });
    assert.equal((await app.next("error")).id, null);
  });
}

/** Asks again until the text fits: a Relay notices a moment later that an app has left. */
async function untilText(ask: () => Promise<HostSees>, text: RegExp): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const seen = await ask();
    if (text.test(seen.text)) return;
    assert.ok(tries < 20, `still: ${seen.text}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}
