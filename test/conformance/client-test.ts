import { test } from "node:test";
import type { TestContext } from "node:test";
import { SKIPPED } from "./client-packages.ts";

/**
 * Registers a test with a client: skipped where the clients are missing, over after two minutes, and
 * tidied up however it ends. What it opens goes into `opened`, and is closed last in, first out.
 */
export function clientTest(
  name: string,
  run: (opened: AsyncDisposableStack, t: TestContext) => Promise<void>,
): void {
  test(name, { skip: SKIPPED, timeout: 120_000 }, async (t) => {
    const opened = new AsyncDisposableStack();
    // A hook runs after a time-out too, when `await using` would wait forever.
    t.after(() => opened.disposeAsync());
    await run(opened, t);
  });
}
