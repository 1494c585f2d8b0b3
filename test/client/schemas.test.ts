/** Tools with the schemas of arktype and valibot: they compile, and a real Relay takes them. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { createRelay, memoryStore } from "@relay/client";
import type { Tool } from "@relay/client";
import { callTool, openRelay } from "../e2e/harness.ts";
import { SKIPPED } from "./test-packages.ts";

const here = import.meta.dirname;

test("the types of arguments and results come from arktype and valibot", { skip: SKIPPED }, () => {
  const tsc = join(here, "..", "..", "node_modules", "typescript", "bin", "tsc");
  const project = join(here, "schemas", "tsconfig.json");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "--noEmit", "-p", project], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stdout);
});

test(
  "a real Relay takes their schemas, and checks arguments by them",
  { skip: SKIPPED },
  async () => {
    await using server = await openRelay();
    const { publishableKey } = await server.project();
    // Not known to the workspace's compiler; the test above compiles it.
    const path: string = "./schemas/libraries.ts";
    const { withBareValibot, ...libraries } = (await import(path)) as Record<string, Tool> & {
      readonly withBareValibot: () => unknown;
    };
    assert.throws(withBareValibot, {
      code: "INVALID_MANIFEST",
      message: "input has no JSON Schema",
    });
    const found = { withArktype: ["a", "true", "undefined"], withValibot: ["a", "10", "true"] };
    for (const [name, expected] of Object.entries(found)) {
      const tools = [libraries[name]].filter((tool) => tool !== undefined);
      const app = { name: "Notes", version: "1" };
      const store = memoryStore();
      const relay = createRelay({ relayUrl: server.url, publishableKey, app, tools, store });
      await relay.start();
      const answer = await callTool(String(relay.mcpUrl), "search_notes", { query: "a" });
      assert.deepEqual(answer.message["result"]?.structuredContent, { found: expected }, name);
      const refused = await callTool(String(relay.mcpUrl), "search_notes", {
        query: "a",
        limit: 51,
      });
      assert.match(refused.message["error"]?.message, /^Invalid arguments/, name);
      relay.stop();
    }
  },
);
