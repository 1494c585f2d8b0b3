/** What the client refuses by itself, Relay refuses too, in the same words. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultLimits } from "@relay/protocol";
import { manifestFault } from "../../packages/client/src/manifest-fault.ts";
import type { Manifest } from "../../packages/client/src/manifest-fault.ts";
import { admitManifest } from "../../packages/server/src/core/hello.ts";

const app = { name: "Notes", version: "1.4.2" };
const ok = { name: "a", description: "x", inputSchema: { type: "object" } };
const many = (count: number): Manifest["tools"] =>
  Array.from({ length: count }, (_, index) => ({ ...ok, name: `tool_${index}` }));

const FAULTY: Readonly<Record<string, Manifest>> = {
  "no app name": { app: { name: "", version: "1" }, tools: [] },
  "a long app name": { app: { name: "x".repeat(65), version: "1" }, tools: [] },
  "no version": { app: { name: "x", version: "" }, tools: [] },
  "a long version": { app: { name: "x", version: "1".repeat(65) }, tools: [] },
  "long instructions": { app, instructions: "é".repeat(4_001), tools: [] },
  "too many tools": { app, tools: many(65) },
  "too many bytes": {
    app,
    tools: many(40).map((tool) => ({ ...tool, description: "é".repeat(1_000) })),
  },
  "no tool name": { app, tools: [{ ...ok, name: "" }] },
  "a long tool name": { app, tools: [{ ...ok, name: "x".repeat(65) }] },
  "a blank in a tool name": { app, tools: [ok, { ...ok, name: "a b" }] },
  "a line break behind a tool name": { app, tools: [{ ...ok, name: "a\n" }] },
  "an emoji in a tool name": { app, tools: [{ ...ok, name: "a🙂" }] },
  "a name twice": { app, tools: [...many(3), { ...ok, name: "tool_1" }] },
  "a long description": { app, tools: [{ ...ok, description: "🙂".repeat(2_001) }] },
  "an input that is a string": { app, tools: [{ ...ok, inputSchema: { type: "string" } }] },
  "an input without a type": { app, tools: [{ ...ok, inputSchema: {} }] },
  "an output that is a list": {
    app,
    tools: [{ ...ok, outputSchema: { type: "array", items: {} } }],
  },
};

const FINE: Readonly<Record<string, Manifest>> = {
  "the longest of everything": {
    app: { name: "🙂".repeat(64), version: "1".repeat(64) },
    instructions: "🙂".repeat(4_000),
    tools: [
      { ...ok, name: "Az09_./-".repeat(8), description: "🙂".repeat(2_000) },
      { ...ok, name: "constructor" },
      { ...ok, name: "__proto__" },
    ],
  },
  "64 tools": { app, tools: many(64) },
  "no tools": { app, tools: [] },
};

for (const [what, manifest] of Object.entries(FAULTY)) {
  test(`${what}: refused in the same words`, () => {
    const words = wordsOf(manifest);
    assert.notEqual(words.relay, "");
    assert.equal(words.client, words.relay);
  });
}

for (const [what, manifest] of Object.entries(FINE)) {
  test(`${what}: taken by both`, () => {
    assert.deepEqual(wordsOf(manifest), { client: "", relay: "" });
  });
}

function wordsOf(manifest: Manifest): { readonly client: string; readonly relay: string } {
  const { instructions } = manifest;
  const raw = {
    app: JSON.stringify(manifest.app),
    instructions: instructions === undefined ? null : JSON.stringify(instructions),
    tools: JSON.stringify(manifest.tools),
  };
  const parts = { app: manifest.app, instructions, tools: JSON.parse(raw.tools) as unknown };
  const verdict = admitManifest(parts, raw, defaultLimits());
  return { client: manifestFault(manifest), relay: verdict.ok ? "" : verdict.message };
}
