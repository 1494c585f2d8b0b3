import assert from "node:assert/strict";
import { test } from "node:test";
import { mintToken } from "../ids.ts";
import { withoutSecrets } from "./audit-secrets.ts";

test("no secret stays in what the audit log keeps, wherever it stands", () => {
  const tokens = (["linkToken", "urlToken", "secretKey", "operatorToken"] as const).map((kind) =>
    mintToken(kind),
  );
  const kept = withoutSecrets({
    name: "Notes",
    password: "correct horse",
    newPassword: "another horse",
    nested: [{ webhookSecret: "whsec_123" }, { code: "123456" }],
    note: `see https://relay.example.com/v1/mcp/${tokens[1]} and ${tokens.join(" ")}`,
    [`field ${tokens[0]}`]: "x",
  });
  for (const secret of [...tokens, "correct horse", "another horse", "whsec_123", "123456"]) {
    assert.ok(kept?.includes(secret) === false, secret);
  }
  assert.match(kept ?? "", /"name":"Notes"/);
});

test("public things stay: names, flags, publishable keys", () => {
  const publishableKey = mintToken("publishableKey");
  const value = { publishableKey, hasSecret: true, role: "admin", callsPerMinute: 60 };
  assert.deepEqual(JSON.parse(withoutSecrets(value) ?? ""), value);
});

test("a value too large for the log leaves its size, and nothing at all leaves null", () => {
  const kept = withoutSecrets({ note: "x".repeat(5_000) });
  assert.match(kept ?? "", /^\{"omittedBytes":\d{4}\}$/);
  assert.equal(withoutSecrets(undefined), null);
  assert.equal(withoutSecrets(null), "null");
});
