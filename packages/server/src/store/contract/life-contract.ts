import { strict as assert } from "node:assert";
import { test } from "node:test";
import { StoreError } from "../store.ts";
import type { Store } from "../store.ts";
import { callsOf } from "./call-contract.ts";
import { openFor } from "./harness.ts";
import type { OpenHarness } from "./harness.ts";
import { addLinkedProject, newCall, NOON } from "./records.ts";

/** What every store must do from its opening to its end. */
export function lifeContract(open: OpenHarness): void {
  test("a store that can be written commits a probe and has no write waiting", async (t) => {
    const store = (await openFor(t, open)).store();
    await store.probe();
    assert.equal(store.writeDelayMs(), 0);
  });

  test("the age of the oldest write is told until it is committed", async (t) => {
    const store = (await openFor(t, open)).store();
    const written = store.probe();
    const until = performance.now() + 5;
    while (performance.now() < until);
    assert.ok(store.writeDelayMs() >= 5);
    await written;
    assert.equal(store.writeDelayMs(), 0);
  });

  test("closing waits for what is queued", async (t) => {
    const harness = await openFor(t, open);
    const { projectId, linkId } = await addLinkedProject(harness.store());
    const written = Array.from({ length: 700 }, () =>
      harness.store().recordCall(newCall(projectId, linkId), false),
    );
    const reopened = harness.reopen();
    await Promise.all(written);
    assert.equal((await callsOf(await reopened, projectId)).length, 700);
  });

  test("a closed store refuses everything as closed, and may be closed again", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await addLinkedProject(store);
    await Promise.all([store.close(), store.close()]);
    await store.close();
    const uses: readonly ((closed: Store) => Promise<unknown>)[] = [
      (closed) => closed.getLink(linkId),
      (closed) => closed.listCalls(projectId, {}, { limit: 1, cursor: null }),
      (closed) => closed.recordCall(newCall(projectId, linkId), false),
      (closed) => closed.setLinkPaused(linkId, true),
      (closed) => closed.probe(),
    ];
    for (const use of uses) {
      await assert.rejects(use(store), (error) => {
        return error instanceof StoreError && error.code === "closed";
      });
    }
    store.noteClient(linkId, { name: "late", version: "1" });
    store.noteKeyUsed(projectId as never, NOON);
  });
}
