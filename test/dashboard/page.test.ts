/** How the page is served: its headers, its assets, and where it stands under a path prefix. */
import assert from "node:assert/strict";
import { request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { test } from "node:test";
import { OpenAPIHono } from "@hono/zod-openapi";
import { addPage } from "../../packages/server/src/api/page.ts";
import type { Api } from "../../packages/server/src/api/routes.ts";
import { openRelay } from "../e2e/harness.ts";
import { whyNoBrowser } from "./browser.ts";

const skip = whyNoBrowser();

type Got = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

/** Asks as it is written: `fetch` would unpack what is compressed. */
function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("latin1");
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    asked.on("error", reject);
    asked.end();
  });
}

const POLICY = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "connect-src": "'self'",
  "img-src": "'self' data:",
  "frame-ancestors": "'none'",
  "base-uri": "'none'",
  "form-action": "'self'",
};

function policyOf({ headers }: Got): Record<string, string> {
  const text = String(headers["content-security-policy"]);
  return Object.fromEntries(
    text.split("; ").map((part) => [part.split(" ")[0], part.slice(part.indexOf(" ") + 1)]),
  );
}

test("every page has the strict policy and is asked for anew", { skip }, async () => {
  await using relay = await openRelay();
  for (const path of ["/", "/setup", "/projects/x/calls?outcome=ok", "/operator/limits"]) {
    const page = await get(relay.url + path);
    assert.equal(page.status, 200, path);
    assert.deepEqual(policyOf(page), POLICY);
    assert.equal(page.headers["x-content-type-options"], "nosniff");
    assert.equal(page.headers["referrer-policy"], "no-referrer");
    assert.equal(page.headers["cache-control"], "no-cache");
    assert.equal(page.headers["strict-transport-security"], undefined);
    assert.doesNotMatch(page.text, /<script(?![^>]*\bsrc=)|<style|\son\w+=|style="/);
  }
});

test("under https the page asks browsers to stay there", { skip }, async () => {
  await using relay = await openRelay({ RELAY_PUBLIC_URL: "https://relay.example.com" });
  const page = await get(`http://127.0.0.1:${relay.port}/`, { Host: "relay.example.com" });
  assert.match(String(page.headers["strict-transport-security"]), /^max-age=\d{7,}/);
});

test("assets are found from every depth and prefix, packed and for ever", { skip }, async () => {
  await using relay = await openRelay();
  for (const path of ["/", "/sign-in", "/projects/x/calls", "/relay/", "/relay/projects/x/calls"]) {
    const page = await get(relay.url + path);
    const [, src = ""] = /<script[^>]*\bsrc="([^"]+)"/.exec(page.text) ?? [];
    const url = new URL(src, relay.url + path).href;
    // A proxy may hand on what is under the prefix, and nothing else.
    const base = path.startsWith("/relay/") ? "/relay/assets/" : "/assets/";
    assert.ok(new URL(url).pathname.startsWith(base), `${path} names ${src}`);
    assert.doesNotMatch(src, /^\//);
    const plain = await get(url);
    const packed = await get(url, { "Accept-Encoding": "gzip, br" });
    assert.equal(plain.status, 200, `${path} names ${src}`);
    assert.equal(plain.headers["content-encoding"], undefined);
    assert.equal(packed.headers["content-encoding"], "br");
    assert.ok(packed.text.length * 2 < plain.text.length);
    assert.equal(packed.headers["cache-control"], "public, max-age=31536000, immutable");
    assert.match(String(packed.headers["content-type"]), /^text\/javascript/);
    assert.equal(packed.headers["vary"], "Accept-Encoding");
  }
});

test("what is no page and no asset stays JSON", { skip }, async () => {
  await using relay = await openRelay();
  const lost = ["/assets/none.js", "/assets/../index.html", "/nothing", "/v1/nothing", "/register"];
  for (const path of lost) {
    const answer = await get(relay.url + path);
    assert.equal(answer.status, 404, path);
    assert.match(String(answer.headers["content-type"]), /^application\/json/);
  }
});

test("without a build there is a page that says so, and how to get one", async () => {
  const api: Api = new OpenAPIHono();
  addPage(api, { urls: { public: "http://localhost", mcp: "http://localhost" } }, "/nowhere");
  const page = await api.request("/projects/x/links");
  assert.equal(page.status, 200);
  assert.match(await page.text(), /has not been built.*npm run dashboard/s);
  assert.match(String(page.headers.get("content-security-policy")), /default-src 'none'/);
});
