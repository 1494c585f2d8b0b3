import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { ProjectId } from "@relay/protocol";
import { callsOf } from "./contract/call-contract.ts";
import { seededRandom, seedOf } from "./contract/harness.ts";
import { newProject } from "./contract/records.ts";
import type { Ack } from "./fixtures/crash-child.ts";
import { assertSound, dataDirFor } from "./fixtures/sqlite-harness.ts";
import { openSqliteStore } from "./sqlite.ts";
import type { SqliteStore } from "./sqlite.ts";

/** `npm run long` takes more of them. */
const ROUNDS = process.env["TEST_LONG"] === undefined ? 4 : 40;
const CHILD = fileURLToPath(new URL("./fixtures/crash-child.ts", import.meta.url));

test("kill -9 at any moment loses nothing that was acknowledged and tears nothing", async (t) => {
  const dataDir = dataDirFor(t);
  const random = seededRandom(seedOf(t));
  const { projectId, ...project } = newProject();
  const first = await openSqliteStore({ dataDir, durability: "normal" });
  await first.createProject({ projectId, ...project }, []);
  await first.close();
  let acknowledged = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const acks = await writeUntilKilled(dataDir, projectId, 20 + Math.floor(random() * 400));
    acknowledged += acks.length;
    // The lock of the dead process is no hindrance, and what it left half done is rolled back.
    const store = await openSqliteStore({ dataDir, durability: "normal" });
    await assertAllThere(store, projectId, acks);
    await store.close();
    assertSound(dataDir);
  }
  t.diagnostic(`${acknowledged} acknowledged writes over ${ROUNDS} kills`);
});

/** Runs the child, kills it after about so many acknowledgements, and returns all it had made. */
async function writeUntilKilled(
  dataDir: string,
  projectId: ProjectId,
  acksMax: number,
): Promise<Ack[]> {
  const child = spawn(process.execPath, ["-C", "relay-source", CHILD, dataDir, projectId], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
    if (output.split("\n").length > acksMax) child.kill("SIGKILL");
  });
  const [, signal]: unknown[] = await once(child, "close");
  assert.equal(signal, "SIGKILL");
  // What follows the last line break was cut off by the kill.
  const lines = output.slice(0, output.lastIndexOf("\n")).split("\n");
  return lines.map((line) => JSON.parse(line) as Ack);
}

async function assertAllThere(
  store: SqliteStore,
  projectId: ProjectId,
  acks: readonly Ack[],
): Promise<void> {
  const calls = new Set<string>();
  for (const { callId } of await callsOf(store, projectId)) {
    assert.ok(!calls.has(callId), "a call is listed once");
    calls.add(callId);
  }
  for (const ack of acks) {
    if (ack.done === "call") {
      assert.ok(calls.has(ack.callId), `call ${ack.callId}`);
      continue;
    }
    const found = await store.getLink(ack.linkId);
    assert.ok(found !== null, `link ${ack.linkId}`);
    const { ownerEpoch, manifestHash, revokedAt, urlTokenHash } = found.link;
    if (ack.done === "claim") assert.equal(ownerEpoch, 1);
    if (ownerEpoch > 0) assert.notEqual(await store.getManifest(manifestHash ?? ""), null);
    if (ack.done === "revoke") assert.notEqual(revokedAt, null);
    if (ack.done === "rotate") {
      assert.equal(Buffer.from(urlTokenHash).toString("hex"), ack.urlTokenHash);
    }
  }
}
