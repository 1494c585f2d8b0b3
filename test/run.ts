/**
 * `npm test`: installs what only tests need if it is missing (the official MCP clients, and what the
 * app's client is tested with), then runs every test there is.
 * `node test/run.ts PART…` runs the files whose path holds one of the parts.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "..");
const installed = ["clients", "client"].map((name) => join(root, "test", name));
const parts = process.argv.slice(2);

const files = globSync(["packages/*/src/**/*.test.ts", "test/**/*.test.ts"], {
  cwd: root,
  exclude: ["**/node_modules/**"],
})
  .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
  .toSorted();

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
    ...files,
  ],
  { cwd: root, stdio: "inherit", env },
);
process.exit(run.status ?? 1);
