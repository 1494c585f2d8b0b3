/**
 * The MCP clients of `test/clients`, which is no part of the workspace: official and popular ones
 * that nobody here wrote. What their modules hold is typed where it is used, and no further.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const FOLDER = new URL("../clients/", import.meta.url);
const require = createRequire(new URL("package.json", FOLDER));

/** Why tests with clients are skipped here; false when they run. */
export const SKIPPED: string | false = existsSync(new URL("node_modules/", FOLDER))
  ? false
  : "test/clients is not installed: run npm ci there";

/** Loads a module of a client. Throws when it is not installed. */
export function loadClient(specifier: string): unknown {
  return require(specifier);
}

/** The file of a command that a client's package offers, to be run with Node. */
export function commandOf(packageName: string, command: string): string {
  const folder = new URL(`node_modules/${packageName}/`, FOLDER);
  // A package.json is npm's: only its `bin` is read.
  const { bin = {} } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as {
    readonly bin?: Readonly<Record<string, string>>;
  };
  const file = bin[command];
  if (file === undefined) throw new Error(`${packageName} has no command ${command}`);
  return fileURLToPath(new URL(file, folder));
}
