import process from "node:process";
import { connectCommand } from "@relay/client/bridge";
import { untilStopped } from "./signals.ts";

/**
 * `relay connect`: makes an existing MCP server into an app of a running Relay. `argv` is what follows
 * the command. Returns the exit code.
 */
export function connect(argv: readonly string[]): Promise<number> {
  return connectCommand(argv, {
    env: process.env,
    print: (line) => process.stdout.write(`${line}\n`),
    warn: (line) => process.stderr.write(`${line}\n`),
    stopped: untilStopped(),
  });
}
