import { strict as assert } from "node:assert";
import { test } from "node:test";
import { mintKeyId, mintLinkId } from "../ids.ts";
import { NOON } from "./contract/records.ts";
import { Notes } from "./notes.ts";

test("notes of a second become one write, the latest of each", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const written: unknown[] = [];
  const notes = new Notes({
    keyUses: async (uses) => void written.push(uses),
    clients: async (seen) => void written.push(seen),
  });
  const [keyId, linkId] = [mintKeyId(NOON), mintLinkId(NOON)];
  for (const at of [3, 9, 4]) notes.keyUsed(keyId, at);
  for (const version of ["1", "2"]) notes.client(linkId, { name: "claude", version });
  assert.deepEqual(written, []);
  t.mock.timers.tick(1_000);
  assert.deepEqual(written, [
    [{ keyId, at: 9 }],
    [{ linkId, client: { name: "claude", version: "2" } }],
  ]);
  t.mock.timers.tick(5_000);
  await notes.flush();
  assert.equal(written.length, 2);
  notes.keyUsed(keyId, 10);
  t.mock.timers.tick(1_000);
  assert.deepEqual(written[2], [{ keyId, at: 10 }]);
});

test("notes that can't be written are counted and let go", async () => {
  const notes = new Notes({
    keyUses: () => Promise.reject(new Error("the disk is full")),
    clients: () => Promise.reject(new Error("the disk is full")),
  });
  for (let at = 0; at < 300; at += 1) notes.keyUsed(mintKeyId(NOON), at);
  await notes.flush();
  await notes.flush();
  assert.equal(notes.lost, 300);
});

test("no more notes are held than one flush may name", async () => {
  let most = 0;
  const notes = new Notes({
    keyUses: async (uses) => void (most += uses.length),
    clients: async () => {},
  });
  const first = mintKeyId(NOON);
  notes.keyUsed(first, 1);
  for (let at = 0; at < 10_050; at += 1) notes.keyUsed(mintKeyId(NOON), at);
  notes.keyUsed(first, 2);
  await notes.flush();
  assert.deepEqual([most, notes.lost], [10_000, 51]);
});
