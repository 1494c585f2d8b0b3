/** The import table of ARCHITECTURE.md, as data: imports run one way, and core stays pure. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const server = "packages/server/src";

/** Each room of the server and what it may import besides itself. `base` is the files at the root. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  base: ["core"],
  observe: ["core", "base"],
  cluster: ["core", "base"],
  store: ["core", "base"],
  relay: ["core", "base", "observe", "cluster", "store"],
  billing: ["core", "base", "observe", "store", "relay"],
  accounts: ["core", "base", "observe", "store"],
  host: ["core", "base", "observe", "relay", "store"],
  app: ["core", "base", "observe", "relay", "store"],
  api: ["core", "base", "observe", "relay", "store", "host", "billing", "accounts"],
  edge: ["core", "base", "observe", "relay", "host", "app"],
  commands: [
    "core",
    "base",
    "observe",
    "cluster",
    "relay",
    "store",
    "host",
    "app",
    "api",
    "edge",
    "billing",
    "accounts",
  ],
  main: ["base", "commands"],
};

/** Packages of the registry that each room may use; everything else is node's own. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  core: ["@relay/protocol", "@eslint-community/regexpp"],
  base: ["@relay/protocol"],
  observe: [
    "@relay/protocol",
    "pino",
    "prom-client",
    "@opentelemetry/api",
    "@opentelemetry/exporter-trace-otlp-http",
    "@opentelemetry/resources",
    "@opentelemetry/sdk-trace-node",
  ],
  cluster: ["@relay/protocol"],
  store: ["@relay/protocol"],
  relay: ["@relay/protocol"],
  billing: ["@relay/protocol"],
  accounts: [
    "@relay/protocol",
    "better-auth",
    "@better-auth/kysely-adapter",
    "@better-auth/passkey",
    "nodemailer",
  ],
  host: ["@relay/protocol"],
  app: ["@relay/protocol", "ws"],
  api: ["@relay/protocol", "@hono/node-server", "@hono/zod-openapi", "hono", "zod"],
  edge: ["@relay/protocol"],
  commands: ["@relay/protocol", "@relay/client"],
  main: [],
};

/** What `relay` may know of the store, the bus and what is counted: interfaces, and the log. */
const RELAY_SEES = ["store/store.ts", "cluster/bus.ts", "observe/meter.ts", "observe/log.ts"];

type Import = { readonly from: string; readonly to: string };

const files = globSync(`${server}/**/*.ts`, { cwd: root }).filter(
  (file) => !file.endsWith(".test.ts") && !file.includes(".contract.") && !/\/test\//.test(file),
);
const imports: readonly Import[] = files.flatMap((from) =>
  [
    ...readFileSync(join(root, from), "utf8").matchAll(
      /(?:from\s+|import\s+|\bimport\()"([^"]+)"/g,
    ),
  ].map(([, to = ""]) => ({ from, to })),
);

function roomOf(file: string): string {
  const inside = file.slice(server.length + 1);
  if (inside === "main.ts") return "main";
  if (inside === "http.ts") return "edge";
  const slash = inside.indexOf("/");
  return slash === -1 ? "base" : inside.slice(0, slash);
}

function targetOf({ from, to }: Import): string {
  return normalize(join(dirname(from), to));
}

test("every file of the server is in a room of the table", () => {
  const unknown = files.filter((file) => MAY_IMPORT[roomOf(file)] === undefined);
  assert.deepEqual(unknown, []);
  assert.ok(files.length > 50);
});

test("imports between rooms run one way", () => {
  const wrong = imports
    .filter(({ to }) => to.startsWith("."))
    .filter((entry) => {
      const from = roomOf(entry.from);
      const to = roomOf(targetOf(entry));
      return from !== to && MAY_IMPORT[from]?.includes(to) !== true;
    });
  assert.deepEqual(wrong, []);
});

test("a room uses no package that the table does not give it", () => {
  const wrong = imports
    .filter(({ to }) => !to.startsWith(".") && !to.startsWith("node:"))
    .filter(({ from, to }) => {
      const name = to
        .split("/")
        .slice(0, to.startsWith("@") ? 2 : 1)
        .join("/");
      return MAY_USE[roomOf(from)]?.includes(name) !== true;
    });
  assert.deepEqual(wrong, []);
});

test("relay knows the store, the bus and the metrics by their interfaces alone", () => {
  const wrong = imports
    .filter(({ from, to }) => roomOf(from) === "relay" && to.startsWith("."))
    .map((entry) => targetOf(entry).slice(server.length + 1))
    .filter((target) => /^(?:store|cluster|observe)\//.test(target))
    .filter((target) => !RELAY_SEES.includes(target));
  assert.deepEqual(wrong, []);
});

test("core is pure: no node module, no clock, no timer, no randomness", () => {
  for (const file of files.filter((name) => roomOf(name) === "core")) {
    const text = readFileSync(join(root, file), "utf8");
    assert.doesNotMatch(text, /from "node:/, file);
    assert.doesNotMatch(
      text,
      /\b(?:Date\.now|new Date|Math\.random|setTimeout|setInterval|setImmediate|performance\.|process\.)/,
      file,
    );
  }
});

test("strangers' JSON is read by core/json alone, since JSON.parse can misread escaped keys", () => {
  const wrong = files
    .filter((file) => ["core", "host", "app", "relay"].includes(roomOf(file)))
    .filter((file) => file !== `${server}/core/json.ts`)
    .filter((file) => readFileSync(join(root, file), "utf8").includes("JSON.parse("));
  assert.deepEqual(wrong, []);
});

test("protocol depends on nothing, and client on protocol alone", () => {
  const external = (pattern: string): string[] =>
    globSync(pattern, { cwd: root })
      .filter((file) => !file.endsWith(".test.ts") && !file.includes("/test/"))
      .flatMap((file) =>
        [...readFileSync(join(root, file), "utf8").matchAll(/from "([^".][^"]*)"/g)].map(
          ([, name = ""]) => name,
        ),
      )
      // Node's own modules are for the entries that run on Node alone.
      .filter((name) => !name.startsWith("node:"));
  assert.deepEqual(external("packages/protocol/src/**/*.ts"), []);
  assert.deepEqual([...new Set(external("packages/client/src/**/*.ts"))], ["@relay/protocol"]);
});
