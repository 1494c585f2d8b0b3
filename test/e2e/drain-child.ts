/** A Relay in a process of its own, for what happens to processes: signals, and being killed. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { RunningRelay } from "../../packages/server/src/commands/serve.ts";
import { TestRelay } from "./harness.ts";

const MAIN = join(import.meta.dirname, "../../packages/server/src/main.ts");
/** How long a process may take to start or to stop before a test gives up on it. */
const PATIENCE_MS = 30_000;

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** Starts `relay serve` with these variables on a free port; `dataDir` reuses an earlier folder. */
export async function startChild(
  env: Readonly<Record<string, string>> = {},
  dataDir: string = mkdtempSync(join(tmpdir(), "relay-test-")),
  words: readonly string[] = ["serve"],
): Promise<ChildRelay> {
  const child = spawn(process.execPath, ["-C", "relay-source", MAIN, ...words], {
    env: {
      ...withoutOurOwn(process.env),
      RELAY_PORT: "0",
      RELAY_DATA_DIR: dataDir,
      RELAY_OPERATOR_TOKEN: OPERATOR_TOKEN,
      RELAY_LINKS_PER_IP_PER_MINUTE: "1000",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = new Output(child);
  const [, url = ""] = await output.until(/running at (http:\S+)\n/);
  return new ChildRelay(child, output, dataDir, url);
}

const OPERATOR_TOKEN = `op_${"T".repeat(32)}`;

export class ChildRelay extends TestRelay {
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #output: Output;

  constructor(child: ChildProcess, output: Output, dataDir: string, url: string) {
    const stop = async (): Promise<void> => void (await this.end("SIGTERM"));
    const own = { port: Number(new URL(url).port), urls: { public: url, mcp: url }, stop };
    // A checked border: its node lives in the other process, and nothing here asks for it.
    super(own as RunningRelay, dataDir, [], OPERATOR_TOKEN);
    this.#child = child;
    this.#output = output;
    this.exited = new Promise((resolve) => {
      child.once("close", (code, signal) => resolve({ code, signal }));
    });
  }

  /** Everything the process wrote to stdout and stderr so far. */
  get written(): string {
    return this.#output.text;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends a signal and waits for the process to be gone. */
  async end(signal: NodeJS.Signals): Promise<Exit> {
    this.signal(signal);
    return this.exited;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.end("SIGKILL");
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

/** What a process writes, as it comes. */
class Output {
  #text = "";
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => (this.#text += chunk));
    }
  }

  get text(): string {
    return this.#text;
  }

  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = pattern.exec(this.#text);
      if (found !== null) return found;
      if (this.#child.exitCode !== null || Date.now() > deadline) {
        this.#child.kill("SIGKILL");
        throw new Error(`the process did not start: ${this.#text}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** The environment of the tests, without the settings of a Relay that may be in it. */
function withoutOurOwn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith("RELAY_") && name !== "NODE_OPTIONS"),
  );
}
