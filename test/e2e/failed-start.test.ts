import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { openRelay } from "./harness.ts";

test("a Relay that fails to start gives back its port and its data folder", async () => {
  const first = await openRelay();
  await first.stop();
  const { port, dataDir } = first;
  const rename = (from: string, to: string): void => {
    const database = new DatabaseSync(join(dataDir, "relay.db"));
    database.exec(`ALTER TABLE ${from} RENAME TO ${to}`);
    database.close();
  };
  rename("links", "mislaid");
  await assert.rejects(openRelay({ RELAY_PORT: String(port) }, dataDir));
  rename("mislaid", "links");
  await using second = await openRelay({ RELAY_PORT: String(port) }, dataDir);
  assert.equal(second.port, port);
});
