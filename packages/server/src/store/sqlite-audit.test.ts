import { strict as assert } from "node:assert";
import { test } from "node:test";
import { mintAuditId, mintRequestId } from "../ids.ts";
import { dataDirFor, openStore, withDatabase } from "./fixtures/sqlite-harness.ts";

test("the database itself refuses to change the audit log or to forget it", async (t) => {
  const dataDir = dataDirFor(t);
  const store = await openStore(t, dataDir);
  const at = Date.now();
  await store.accounts.recordAudit({
    auditId: mintAuditId(at),
    at,
    accountId: null,
    projectId: null,
    userId: null,
    actor: "ann@example.com",
    action: "Signs in",
    target: null,
    before: null,
    after: null,
    address: "203.0.113.7",
    requestId: mintRequestId(at),
  });
  withDatabase(dataDir, (db) => {
    assert.throws(() => db.exec("UPDATE audit SET actor = 'nobody'"), /append-only/);
    assert.throws(() => db.exec("DELETE FROM audit"), /append-only/);
  });
});
