/** A Relay that is probed, and a bystander on it: an app and its host who must notice nothing. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { ECHO, callTool, connectApp, helloOf, openRelay, textOf } from "../e2e/harness.ts";
import type { TestApp, TestLink, TestProject, TestRelay } from "../e2e/harness.ts";
import { RawApp } from "../e2e/socket-client.ts";
import type { RawEnd } from "../e2e/socket-client.ts";

/** How a connection ends that Relay drops: an app's library shows 1006. */
export const DROPPED: RawEnd = { code: null, reason: "" };
export const PROTOCOL_ERROR: RawEnd = { code: 1002, reason: "protocol error" };
export const NOT_UTF8: RawEnd = { code: 1007, reason: "invalid UTF-8" };

/** Limits that do not bind, so that a probe meets only what it probes. */
const ROOMY = {
  RELAY_LINKS_PER_IP_PER_MINUTE: "100000",
  RELAY_COMMANDS_PER_MINUTE: "100000",
  RELAY_CALLS_PER_MINUTE: "6000",
  RELAY_META_REQUESTS_PER_MINUTE: "100000",
};

export class Probed {
  readonly relay: TestRelay;
  readonly project: TestProject;
  readonly #bystander: { readonly link: TestLink; readonly app: TestApp };

  private constructor(relay: TestRelay, project: TestProject, link: TestLink, app: TestApp) {
    this.relay = relay;
    this.project = project;
    this.#bystander = { link, app };
  }

  static async open(env: Readonly<Record<string, string>> = {}): Promise<Probed> {
    const relay = await openRelay({ ...ROOMY, ...env });
    const project = await relay.project();
    const link = await project.link("bystander");
    return new Probed(relay, project, link, await connectApp(link, ECHO));
  }

  /** A socket that has said nothing yet. */
  silent(): Promise<RawApp> {
    return RawApp.open(this.#bystander.link.socketUrl);
  }

  /** An app on bare TCP that is ready, on a link of its own unless one is given. */
  async ready(link?: TestLink): Promise<RawApp> {
    const own = link ?? (await this.project.link());
    const app = await RawApp.open(own.socketUrl);
    app.send(helloOf(own));
    assert.equal((await app.next())["type"], "ready");
    return app;
  }

  /** How long the bystander's host waits for one answer, ms; fails if it is not the right one. */
  async bystanderWaits(): Promise<number> {
    const query = `at ${performance.now()}`;
    const began = performance.now();
    const answer = await callTool(this.#bystander.link.mcpUrl, "search_notes", { query });
    assert.equal(textOf(answer), JSON.stringify({ query }));
    return performance.now() - began;
  }

  /** Nobody else was disturbed, and nothing happened that a person would be woken for. */
  async assertUndisturbed(): Promise<void> {
    await this.bystanderWaits();
    const { socket } = this.#bystander.app;
    assert.equal(socket.readyState, socket.OPEN, "the bystander's socket is the one it was");
    // A row that is late says that the machine is busy, not that the probe disturbed anybody.
    const alarms = this.relay.log.filter(
      (line) => /"level":"(warn|error|fatal)"/.test(line) && !line.includes("row is late"),
    );
    assert.deepEqual(alarms, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#bystander.app.socket.terminate();
    await this.relay.stop();
    rmSync(this.relay.dataDir, { recursive: true, force: true });
  }
}
