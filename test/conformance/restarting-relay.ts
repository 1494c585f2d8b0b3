import { openRelay } from "../e2e/harness.ts";
import type { TestLink, TestProject, TestRelay } from "../e2e/harness.ts";

/** A Relay with one project and one link, which can stop and come back on its port and its data. */
export class RestartingRelay {
  readonly link: TestLink;
  readonly project: TestProject;
  #relay: TestRelay;

  private constructor(relay: TestRelay, project: TestProject, link: TestLink) {
    this.#relay = relay;
    this.project = project;
    this.link = link;
  }

  static async open(env: Readonly<Record<string, string>> = {}): Promise<RestartingRelay> {
    const relay = await openRelay(env);
    const project = await relay.project();
    return new RestartingRelay(relay, project, await project.link());
  }

  async restart(): Promise<void> {
    const { port, dataDir } = this.#relay;
    await this.#relay.stop();
    this.#relay = await openRelay({ RELAY_PORT: String(port) }, dataDir);
  }

  /** Stops and removes the data folder. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#relay[Symbol.asyncDispose]();
  }
}
