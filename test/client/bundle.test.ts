/** What a page pays for the client, and what it drags in: measured as an app's bundler sees it. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { SKIPPED, loadPackage } from "./test-packages.ts";

const root = join(import.meta.dirname, "..", "..");
const GZIP_BYTES_MAX = 6 * 1024;

type Rolldown = {
  readonly rolldown: (options: object) => Promise<{
    generate(options: object): Promise<{ readonly output: readonly { readonly code: string }[] }>;
  }>;
};

/** The minified bundle of an app that uses these exports of an entry. */
async function bundle(entry: string, names: string): Promise<string> {
  const { rolldown } = loadPackage("rolldown") as Rolldown;
  const app = "\0app";
  const built = await rolldown({
    input: app,
    cwd: root,
    platform: "browser",
    resolve: { conditionNames: ["relay-source", "import"] },
    plugins: [
      {
        name: "app",
        resolveId: (id: string) => (id === app ? app : null),
        load: (id: string) => (id === app ? `export { ${names} } from "${entry}"` : null),
      },
    ],
    onLog: (_level: string, log: { readonly message: string }) => {
      throw new Error(log.message);
    },
  });
  const { output } = await built.generate({ format: "esm", minify: true });
  assert.equal(output.length, 1);
  return output[0]?.code ?? "";
}

test("a page pays at most 6 KB for the client, gzipped", { skip: SKIPPED }, async (t) => {
  const code = await bundle("@relay/client/browser", "createRelay, tool");
  const bytes = gzipSync(code, { level: 9 }).length;
  t.diagnostic(`${code.length} bytes minified, ${bytes} bytes gzipped`);
  assert.ok(bytes <= GZIP_BYTES_MAX, `${bytes} bytes`);
});

test(
  "the client drags nothing into a page: no package, no module of Node",
  { skip: SKIPPED },
  async () => {
    for (const entry of ["browser", "react-native", "webmcp"]) {
      const code = await bundle(
        `@relay/client/${entry}`,
        entry === "webmcp" ? "exposeWebMcp" : "tool",
      );
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
