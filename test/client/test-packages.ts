/**
 * The packages of `test/client`, which is no part of the workspace: schema libraries, a bundler, Bun,
 * Deno, a browser's remote control, checkers of pages and of QR codes, and the official MCP SDKs and
 * servers. What their modules hold is typed where it is used, and no further.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const folder = new URL("./node_modules/", import.meta.url);
const require = createRequire(new URL("package.json", folder));

/** Why tests with these packages are skipped here; false when they run. */
export const SKIPPED: string | false = existsSync(folder)
  ? false
  : "test/client is not installed: run npm ci there";

/** The file of a command that one of them offers. */
export function commandPath(name: string): string {
  return fileURLToPath(new URL(`.bin/${name}`, folder));
}

/** Loads a module of one of them. Throws when it is not installed. */
export function loadPackage(specifier: string): unknown {
  return require(specifier);
}
