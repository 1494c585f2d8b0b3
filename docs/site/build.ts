/**
 * `npm run docs`: installs what the site is built with if it is missing, brings the reference pages
 * in, builds the site into `dist`, and fails if a link within it leads nowhere.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { brokenLinks } from "./check-links.ts";
import { copyReference } from "./copy-reference.ts";

const here = import.meta.dirname;

if (!existsSync(join(here, "node_modules"))) run("npm", ["ci", "--no-audit", "--no-fund"]);
copyReference();
run(process.execPath, [join("node_modules", "astro", "bin", "astro.mjs"), "build"]);

const { links, broken } = brokenLinks(join(here, "dist"));
for (const { page, link, why } of broken) {
  process.stderr.write(`${page} links to ${link}: ${why}\n`);
}
process.stdout.write(`${links} links within the site, ${broken.length} broken\n`);
process.exitCode = broken.length === 0 ? 0 : 1;

function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, {
    cwd: here,
    stdio: "inherit",
    env: {
      ...process.env,
      // What npm starts must find the Node that runs this.
      PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
      ASTRO_TELEMETRY_DISABLED: "1",
    },
  });
  if (status !== 0) process.exit(status ?? 1);
}
