/**
 * `npm test`: installs what only tests need if it is missing (the official MCP clients, and what the
 * app's client is tested with), then runs the tests; what takes longest is left to CI and
 * to `npm run long`, and named. `npm test PART…` runs the files whose path holds one of the parts.
 * With `TEST_FULL=1`, CI's second step, the random tests take all their rounds, and where no part is
 * named only they and what `npm test` leaves out are run.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "..");
const installed = ["clients", "client"].map((name) => join(root, "test", name));
const parts = process.argv.slice(2);

/** Folders and files left out of `npm test`, so that it stays under five minutes on two cores. */
const LEFT_TO_CI = [
  "test/client/runtimes.test.ts",
  "test/client/widget-",
  "test/conformance/inspector.test.ts",
  "test/dashboard/everywhere.test.ts",
  "test/dashboard/filters.test.ts",
  "test/dashboard/hostile-names.test.ts",
  "test/dashboard/leaks.test.ts",
  "test/dashboard/links.test.ts",
  "test/dashboard/money.test.ts",
  "test/dashboard/opened.test.ts",
  "test/dashboard/page.test.ts",
  "test/dashboard/pushed.test.ts",
  "test/dashboard/settings.test.ts",
  "test/dashboard/sign-in.test.ts",
  "test/dashboard/signed-out.test.ts",
  "test/faults/",
  "test/oracles/",
  "test/probes/",
  "test/soak/",
];
/** Run by `npm test` with a part of their rounds, and by CI in full as well. */
const IN_PARTS = [
  "packages/server/src/billing/ledger-property.test.ts",
  "packages/server/src/core/schema/ajv.test.ts",
  "packages/server/src/core/schema/regex/fuzz.test.ts",
];

function isWanted(file: string): boolean {
  if (parts.length > 0) return parts.some((part) => file.includes(part));
  if (process.env["TEST_LONG"] !== undefined) return true;
  const isLeftOut = LEFT_TO_CI.some((place) => file.startsWith(place));
  if (process.env["TEST_FULL"] !== undefined) return isLeftOut || IN_PARTS.includes(file);
  if (isLeftOut) process.stdout.write(`left to CI and npm run long: ${file}\n`);
  return !isLeftOut;
}

const files = globSync(["packages/*/src/**/*.test.ts", "test/**/*.test.ts"], {
  cwd: root,
  exclude: ["**/node_modules/**"],
})
  .toSorted()
  .filter(isWanted);

const env = {
  ...process.env,
  // The npm scripts put the pinned Node first on the path; what is started here must find it too.
  PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
  // Hundreds of processes load the same sources: their types are stripped and they are compiled once.
  NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "node"),
};

for (const folder of installed) {
  if (existsSync(join(folder, "node_modules"))) continue;
  const { status } = spawnSync("npm", ["ci", "--prefix", folder], { stdio: "inherit", env });
  if (status !== 0) process.exit(status ?? 1);
}

const run = spawnSync(
  process.execPath,
  [
    "-C",
    "relay-source",
    "--test",
    "--test-concurrency=3",
    "--test-force-exit",
    "--test-timeout=180000",
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    `--test-reporter=${join(root, "test", "layers.ts")}`,
    // Of two reporters on stdout the second is cut off by the forced exit.
    "--test-reporter-destination=stderr",
    ...files,
  ],
  { cwd: root, stdio: "inherit", env },
);
process.exit(run.status ?? 1);
