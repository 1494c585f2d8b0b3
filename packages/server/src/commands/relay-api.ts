import type { UrlToken } from "@relay/protocol";
import type { Config } from "../config.ts";
import { operatorToken } from "./secrets.ts";

/** What a command needs of a project it made. */
export type MadeProject = {
  readonly projectId: string;
  readonly name: string;
  readonly publishableKey: string;
  readonly secretKey: string;
};

export type MadeLink = {
  readonly linkId: string;
  readonly linkToken: string;
  readonly mcpUrl: string;
  readonly socketUrl: string;
};

/** The REST API of a Relay, as the commands use it. Errors are sentences for a person. */
export class RelayApi {
  readonly #baseUrl: string;

  /** `baseUrl` without a trailing slash. */
  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  async isRunning(): Promise<boolean> {
    try {
      return (await fetch(`${this.#baseUrl}/healthz`)).ok;
    } catch {
      return false;
    }
  }

  /** Whether a link has this URL token: one that was rotated or revoked has none. */
  async knowsUrlToken(token: UrlToken): Promise<boolean> {
    const answer = await fetch(`${this.#baseUrl}/v1/mcp/${token}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
    });
    return answer.ok;
  }

  createProject(config: Config, name: string): Promise<MadeProject> {
    return this.#post("/v1/operator/projects", operatorToken(config), { name });
  }

  createLink(publishableKey: string, label: string): Promise<MadeLink> {
    return this.#post("/v1/links", publishableKey, { label });
  }

  async setUpLink(config: Config): Promise<string> {
    const made: { readonly url: string } = await this.#post(
      "/v1/operator/setup-link",
      operatorToken(config),
      {},
    );
    return made.url;
  }

  async passwordLink(config: Config, email: string): Promise<string> {
    const made: { readonly url: string } = await this.#post(
      "/v1/operator/users/password-reset",
      operatorToken(config),
      { email },
    );
    return made.url;
  }

  async #post<Answer>(path: string, key: string, body: unknown): Promise<Answer> {
    const response = await fetch(`${this.#baseUrl}${path}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    // Our own API, whose shapes its tests hold.
    if (response.ok) return answer as Answer;
    const { error } = answer as { error: { code: string; message: string } };
    throw new Error(`${error.code}: ${error.message}`);
  }
}
