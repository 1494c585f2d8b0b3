#!/usr/bin/env node
import { backupCommand, restoreCommand } from "./commands/backup.ts";
import { printConfig } from "./commands/config.ts";
import { doctor } from "./commands/doctor.ts";
import { createProject } from "./commands/project.ts";
import { serve } from "./commands/serve.ts";
import { VERSION } from "./commands/version.ts";
import { readConfig } from "./config.ts";
import type { Config } from "./config.ts";

const HELP = `relay ${VERSION}: lets AI hosts call the tools of apps on people's own devices

  relay serve [--demo]         run a Relay; with --demo also a sample app
  relay connect -- COMMAND…    make an MCP server into an app (\`--url URL\` for one over HTTP)
  relay demo                   run the sample app against a running Relay and make one call
  relay project create NAME    make a project and print its keys
  relay setup-link             print a new link that makes the dashboard's first user
  relay user reset-password EMAIL
                               print a link that sets a user's new password
  relay config                 list every setting
  relay doctor                 look over the data folder and the addresses, and say what is wrong
  relay backup FILE            copy the data folder into one file, also while a server runs
  relay restore FILE           make a new data folder of a backup

Settings are environment variables (RELAY_PORT=8080) or flags (--port 8080).
`;

type Arguments = {
  readonly words: readonly string[];
  readonly switches: ReadonlySet<string>;
  readonly flags: ReadonlyMap<string, string>;
};

const SWITCHES = new Set(["--demo", "--help", "--version"]);

const [first, ...others] = process.argv.slice(2);

// Its flags are its own, and what follows `--` is another program's.
process.exitCode =
  first === "connect"
    ? await (await import("./commands/connect.ts")).connect(others)
    : await run(readArguments(process.argv.slice(2)));

async function run({ words, switches, flags }: Arguments): Promise<number> {
  const [command = "", ...rest] = words;
  if (switches.has("--version")) return print(`relay ${VERSION}\n`);
  if (switches.has("--help") || command === "" || command === "help") return print(HELP);
  if (command === "config") return print(printConfig());
  const reading = readConfig(process.env, flags);
  if (!reading.ok) return fail(reading.faults);
  return runWith(reading.config, command, rest, switches);
}

async function runWith(
  config: Config,
  command: string,
  rest: readonly string[],
  switches: ReadonlySet<string>,
): Promise<number> {
  if (command === "serve" && rest.length === 0) return serve(config, switches.has("--demo"));
  if (command === "demo" && rest.length === 0)
    return (await import("./commands/demo.ts")).demo(config);
  if (command === "doctor" && rest.length === 0) return doctor(config);
  if (command === "backup" && rest.length === 1) return backupCommand(config, rest[0] ?? "");
  if (command === "restore" && rest.length === 1) return restoreCommand(config, rest[0] ?? "");
  if (command === "project" && rest[0] === "create" && rest.length === 2) {
    return createProject(config, rest[1] ?? "");
  }
  if (command === "setup-link" && rest.length === 0) {
    return (await import("./commands/people.ts")).setUpLink(config);
  }
  if (command === "user" && rest[0] === "reset-password" && rest.length === 2) {
    return (await import("./commands/people.ts")).resetPassword(config, rest[1] ?? "");
  }
  return fail([
    `unknown command: relay ${[command, ...rest].join(" ")}`,
    "`relay help` lists them",
  ]);
}

/** `--flag value` and `--flag=value` are settings, `--demo` and its like are switches. */
function readArguments(argv: readonly string[]): Arguments {
  const words: string[] = [];
  const switches = new Set<string>();
  const flags = new Map<string, string>();
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    const equals = word.indexOf("=");
    if (!word.startsWith("--")) words.push(word);
    else if (SWITCHES.has(word)) switches.add(word);
    else if (equals !== -1) flags.set(word.slice(0, equals), word.slice(equals + 1));
    else {
      flags.set(word, argv[at + 1] ?? "");
      at += 1;
    }
  }
  return { words, switches, flags };
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

function fail(sentences: readonly string[]): number {
  for (const sentence of sentences) process.stderr.write(`relay: ${sentence}\n`);
  return 2;
}
