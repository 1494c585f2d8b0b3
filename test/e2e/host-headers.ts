import assert from "node:assert/strict";

/** What both `Headers` and a raw answer's map can do. */
type Readable = { get(name: string): string | null | undefined };

/** What every answer under `/v1/mcp` carries, whatever it says (SPEC 2, 6 and 14). */
export function assertMcpHeaders(headers: Readable, what: string): void {
  assert.match(headers.get("x-request-id") ?? "", /^req_[0-9a-f]{12}7[0-9a-f]{19}$/, what);
  assert.equal(headers.get("access-control-allow-origin"), "*", what);
  const exposed = headers.get("access-control-expose-headers") ?? "";
  assert.deepEqual(exposed.split(", "), ["X-Request-Id", "Retry-After", "Allow"], what);
  assert.equal(headers.get("referrer-policy"), "no-referrer", what);
  assert.equal(headers.get("x-robots-tag"), "noindex", what);
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  assert.equal(
    headers.get("cache-control"),
    isStream ? "no-cache, no-transform" : "no-store",
    what,
  );
  assertNoSignIn(headers, what);
}

/** Nothing that makes a host look for a sign-in, or keep a session. */
export function assertNoSignIn(headers: Readable, what: string): void {
  for (const name of ["www-authenticate", "location", "mcp-session-id", "set-cookie"]) {
    assert.equal(headers.get(name) ?? null, null, `${what}: ${name}`);
  }
}
