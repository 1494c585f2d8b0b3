import { memoryStore } from "../link-store.ts";
import type { LinkStore } from "../link-store.ts";
import { openRelay } from "../relay-client.ts";
import type { Relay, RelayOptions } from "../relay.ts";
import type { Locks } from "../runtime.ts";
import { FakeRelay } from "../testing.ts";
import type { FakeRelayOptions } from "../testing.ts";
import { tool } from "../tool.ts";
import { FakeClock } from "./fake-clock.ts";

/** Echoes its argument; the one tool of an app that a test is not about. */
export const ECHO = tool("echo", {
  description: "Says it again",
  input: { type: "object", properties: { text: { type: "string" } } },
  run: ({ text }) => text ?? "",
});

/** A fake Relay on a fake clock, and apps of it on the same clock. */
export class Stage {
  readonly clock = new FakeClock();
  readonly relay: FakeRelay;
  /** The random number of every wait. */
  random = 1;
  readonly #locks: Locks | null;
  readonly #isPage: boolean;

  constructor(
    options: FakeRelayOptions & { readonly locks?: Locks; readonly isPage?: boolean } = {},
  ) {
    const { after, wall } = this.clock;
    const { locks = null, isPage = false, ...fake } = options;
    this.relay = new FakeRelay({ after, wall, ...fake });
    this.#locks = locks;
    this.#isPage = isPage;
  }

  /** An app that has not started. */
  app(options: Partial<RelayOptions> = {}, store: LinkStore = memoryStore()): TestApp {
    const { monotonic, wall, after } = this.clock;
    const runtime = {
      monotonic,
      wall,
      after,
      random: () => this.random,
      locks: this.#locks,
      isPage: this.#isPage,
      wakeUps: () => () => undefined,
      ...this.relay.app(store),
    };
    const app = { name: "Notes", version: "1.4.2" };
    return new TestApp(
      openRelay({ ...this.relay.app(store), app, tools: [ECHO], ...options }, runtime),
    );
  }

  /** An app that is online. */
  async online(options: Partial<RelayOptions> = {}, store?: LinkStore): Promise<TestApp> {
    const app = this.app(options, store);
    await app.relay.start();
    return app;
  }
}

/** An app, and everything its relay has told. */
export class TestApp {
  readonly relay: Relay;
  readonly states: string[] = [];
  readonly calls: string[] = [];
  readonly urls: string[] = [];
  readonly errors: string[] = [];
  readonly paused: boolean[] = [];

  constructor(relay: Relay) {
    this.relay = relay;
    relay.on("state", (state) => {
      const reason = "reason" in state ? ` ${state.reason.code}` : "";
      this.states.push(`${state.status}${reason}`);
    });
    relay.on("call", ({ tool: name, status }) => this.calls.push(`${name} ${status}`));
    relay.on("url", (url) => this.urls.push(url));
    relay.on("error", ({ code, message }) => this.errors.push(`${code}: ${message}`));
    relay.on("paused", (paused) => this.paused.push(paused));
  }

  /** The states since the last time this was asked. */
  takeNews(): string[] {
    return this.states.splice(0);
  }
}
