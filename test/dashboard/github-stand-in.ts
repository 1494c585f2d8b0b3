/**
 * GitHub's OAuth addresses on loopback: a page of its own that sends the browser back at once, and
 * what a server asks it. The Relay under test runs in this process, so its requests to GitHub are
 * led here; anything else that leaves the machine fails.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "./browser.ts";

export const GITHUB_APP = { clientId: "client-7", clientSecret: "secret-of-the-app" } as const;

export type GitHubUser = { readonly id: number; readonly email: string; readonly name: string };

export class GitHubStandIn {
  /** Who is signed in there; null for somebody who says no. */
  user: GitHubUser | null = null;
  /** The addresses that browsers and the Relay asked for. */
  readonly asked: string[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #codes = new Map<string, GitHubUser>();
  #base = "";
  #fetch = globalThis.fetch;

  static async open(): Promise<GitHubStandIn> {
    const standIn = new GitHubStandIn();
    await new Promise<void>((resolve) => standIn.#server.listen(0, "127.0.0.1", resolve));
    // A server on TCP has an address with a port.
    standIn.#base = `http://127.0.0.1:${(standIn.#server.address() as AddressInfo).port}`;
    standIn.#leadHere();
    return standIn;
  }

  /** Leads a page's way to GitHub here. */
  async serve(page: Page): Promise<void> {
    await page.route(/^https:\/\/(?:api\.)?github\.com\//, async (route) => {
      const { pathname, search } = new URL(route.request().url());
      await route.fulfill({
        status: 302,
        headers: { Location: `${this.#base}${pathname}${search}` },
      });
    });
  }

  close(): void {
    globalThis.fetch = this.#fetch;
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #leadHere(): void {
    this.#fetch = globalThis.fetch;
    const real = this.#fetch;
    globalThis.fetch = async (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input.toString());
      if (!/^(?:api\.)?github\.com$/.test(url.hostname)) return real(input, init);
      const here = `${this.#base}${url.pathname}${url.search}`;
      return real(input instanceof Request ? new Request(here, input) : here, init);
    };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", this.#base);
    this.asked.push(pathname);
    const json = (status: number, body: unknown): void => {
      response.writeHead(status, { "Content-Type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (pathname === "/login/oauth/authorize") return this.#authorize(searchParams, response);
    if (pathname === "/login/oauth/access_token") {
      const form = new URLSearchParams(await textOf(request));
      const isOurs = form.get("client_secret") === GITHUB_APP.clientSecret;
      const code = form.get("code") ?? "";
      const known = this.#codes.has(code) && isOurs;
      return json(
        200,
        known ? { access_token: `gho_${code}`, token_type: "bearer" } : { error: "x" },
      );
    }
    const token = /^(?:Bearer|token) gho_(.+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const user = this.#codes.get(token ?? "");
    if (user === undefined) return json(401, { message: "Bad credentials" });
    const { id, name, email } = user;
    if (pathname === "/user")
      return json(200, { id, login: `u${id}`, name, email, avatar_url: "" });
    if (pathname === "/user/emails") return json(200, [{ email, primary: true, verified: true }]);
    return json(404, {});
  }

  /** The page where a person says yes or no, who does so at once. */
  #authorize(search: URLSearchParams, response: ServerResponse): void {
    assert.equal(search.get("client_id"), GITHUB_APP.clientId);
    const back = new URL(search.get("redirect_uri") ?? "");
    back.searchParams.set("state", search.get("state") ?? "");
    if (this.user === null) back.searchParams.set("error", "access_denied");
    else {
      const code = `c${this.#codes.size + 1}`;
      this.#codes.set(code, this.user);
      back.searchParams.set("code", code);
    }
    response.writeHead(302, { Location: back.href });
    response.end();
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}
