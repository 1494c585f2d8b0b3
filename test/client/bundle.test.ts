/** What a page pays for the client, and what it drags in: measured as an app's bundler sees it. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { bundleOfText } from "./bundle-of.ts";
import { SKIPPED } from "./test-packages.ts";

const root = join(import.meta.dirname, "..", "..");
const GZIP_BYTES_MAX = 6 * 1024;
const WIDGET_GZIP_BYTES_MAX = 12 * 1024;

/** The minified bundle of an app that uses these exports of an entry. */
function bundle(entry: string, names: string): Promise<string> {
  return bundleOfText(`export { ${names} } from "@relay/client/${entry}"`);
}

test("a page pays at most 6 KB for the client, gzipped", { skip: SKIPPED }, async (t) => {
  const code = await bundle("browser", "createRelay, tool");
  const bytes = gzipSync(code, { level: 9 }).length;
  t.diagnostic(`${code.length} bytes minified, ${bytes} bytes gzipped`);
  assert.ok(bytes <= GZIP_BYTES_MAX, `${bytes} bytes`);
});

test("the widget is an entry of its own, at most 12 KB gzipped", { skip: SKIPPED }, async (t) => {
  const code = await bundleOfText(`import "@relay/client/widget";`);
  assert.match(
    code,
    /customElements/,
    "a bundler must not leave out what is imported for its effect",
  );
  const bytes = gzipSync(code, { level: 9 }).length;
  t.diagnostic(`${code.length} bytes minified, ${bytes} bytes gzipped`);
  assert.ok(bytes <= WIDGET_GZIP_BYTES_MAX, `${bytes} bytes`);
  // It takes the client object, and brings nothing of the client.
  assert.doesNotMatch(code, /\/v1\/socket|link\.rotate/);
});

test(
  "the client drags nothing into a page: no package, no module of Node",
  { skip: SKIPPED },
  async () => {
    for (const [entry, names] of [
      ["browser", "createRelay, tool, localStore"],
      ["react-native", "createRelay, tool, secureStore, appStateWakeUps"],
      ["webmcp", "exposeWebMcp"],
      ["testing", "FakeRelay"],
      ["widget", "RelayConnect, keepCalls, WORDS"],
      ["hosts", "hostWays"],
    ] as const) {
      const code = await bundle(entry, names);
      assert.doesNotMatch(code, /\bfrom ?["'`]|\bimport ?[("'`]|\brequire\(/, entry);
    }
  },
);

test("the client depends on the protocol alone", () => {
  const manifest = JSON.parse(readFileSync(join(root, "packages/client/package.json"), "utf8"));
  assert.deepEqual(Object.keys(manifest.dependencies), ["@relay/protocol"]);
  const entries = Object.keys(manifest.exports);
  const imports = new Map<string, Set<string>>();
  for (const file of globSync("packages/client/src/**/*.ts", { cwd: root })) {
    if (file.endsWith(".test.ts") || file.includes("/src/test/")) continue;
    const text = readFileSync(join(root, file), "utf8");
    for (const [, from = ""] of text.matchAll(/(?:from|import) "([^".][^"]*)"/g)) {
      imports.set(from, (imports.get(from) ?? new Set()).add(file));
    }
  }
  const allowed = /^(@relay\/protocol|node:(crypto|fs\/promises|path|process))$/;
  assert.deepEqual(
    [...imports.keys()].filter((from) => !allowed.test(from)),
    [],
  );
  assert.deepEqual(
    entries.filter(
      (entry) =>
        ![
          "",
          "/browser",
          "/node",
          "/electron",
          "/react-native",
          "/webmcp",
          "/widget",
          "/hosts",
          "/testing",
          "/bridge",
        ].includes(entry.slice(1)),
    ),
    [],
  );
});

test("the client's core is pure: no clock, no timer, no randomness, no promise", () => {
  const files = globSync("packages/client/src/core/*.ts", { cwd: root });
  for (const file of files.filter((name) => !name.endsWith(".test.ts"))) {
    const text = readFileSync(join(root, file), "utf8");
    assert.doesNotMatch(
      text,
      /\b(?:Date|setTimeout|setInterval|performance|Math\.random|Promise|await|process)\b/,
      file,
    );
  }
});
