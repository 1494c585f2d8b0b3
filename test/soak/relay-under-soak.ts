import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Child } from "../../bench/child.ts";
import type { JsonObject } from "../e2e/harness.ts";
import { Samples } from "../e2e/metrics-text.ts";
import type { LinkFacts } from "./app-socket.ts";
import type { Vitals } from "./server.ts";

export type Project = {
  readonly projectId: string;
  readonly accountId: string;
  readonly publishableKey: string;
  readonly secretKey: string;
};

/** A Relay in a process of its own, and what a developer and its operator ask of it. */
export class RelayUnderSoak {
  readonly dataDir: string;
  readonly url: string;
  readonly #child: Child;
  readonly #operatorToken: string;

  private constructor(child: Child, dataDir: string, url: string) {
    this.#child = child;
    this.dataDir = dataDir;
    this.url = url;
    this.#operatorToken = readFileSync(join(dataDir, "operator-token"), "utf8").trim();
  }

  static async start(env: Readonly<Record<string, string>>): Promise<RelayUnderSoak> {
    const dataDir = mkdtempSync(join(tmpdir(), "relay-soak-"));
    const child = new Child("test/soak/server.ts", [], {
      RELAY_PORT: "0",
      RELAY_DATA_DIR: dataDir,
      ...env,
    });
    const line = await child.line((text) => text.includes("is running at"));
    const url = (line.split(" ").at(-1) ?? "").replace("localhost", "127.0.0.1");
    return new RelayUnderSoak(child, dataDir, url);
  }

  vitals(): Promise<Vitals> {
    return this.#child.ask<Vitals>("vitals");
  }

  async samples(): Promise<Samples> {
    const response = await fetch(`${this.url}/metrics`);
    return new Samples(await response.text());
  }

  /** One REST request, the operator's unless a key is given; throws on anything but success. */
  async rest(
    method: string,
    path: string,
    body?: unknown,
    key: string = this.#operatorToken,
  ): Promise<JsonObject> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as JsonObject;
  }

  /** A project in an account of its own. */
  async project(settings: JsonObject): Promise<Project> {
    const { accountId } = await this.rest("POST", "/v1/operator/accounts");
    const made = await this.rest("POST", "/v1/operator/projects", {
      name: "Notes",
      accountId,
      ...settings,
    });
    return { ...(made as Omit<Project, "accountId">), accountId };
  }

  async link(project: Project): Promise<LinkFacts> {
    const made = await this.rest("POST", "/v1/links", {}, project.publishableKey);
    // A checked border: what a created link is, `links-create` tests.
    const facts = made as LinkFacts;
    const local = (url: string): string => url.replace("localhost", "127.0.0.1");
    return { ...facts, mcpUrl: local(facts.mcpUrl), socketUrl: local(facts.socketUrl) };
  }

  /** Ends it at once and removes what it wrote. */
  remove(): void {
    this.#child.kill();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
