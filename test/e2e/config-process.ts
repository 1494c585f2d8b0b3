/** The `relay` command as a process of its own, as an operator runs it. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "./harness.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const MAIN = join(ROOT, "packages", "server", "src", "main.ts");
/** Halves the time a process takes to start. */
const COMPILE_CACHE = join(tmpdir(), "relay-test-compile-cache");

export type Ended = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** A new empty folder for data. */
export function dataFolder(): string {
  return mkdtempSync(join(tmpdir(), "relay-test-"));
}

export function removeFolder(dataDir: string): void {
  rmSync(dataDir, { recursive: true, force: true });
}

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** Runs a command to its end. */
export function runRelay(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new RelayProcess(words, env).ended;
}

/** Starts `relay serve` and waits until it says where it is; throws what it says instead. */
export async function serveRelay(
  env: Readonly<Record<string, string>>,
  words: readonly string[] = [],
): Promise<RelayProcess> {
  const relay = new RelayProcess(["serve", ...words], env);
  await relay.says(/ is running at (\S+)\n/);
  return relay;
}

export class RelayProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly #env: Readonly<Record<string, string>>;
  #stdout = "";
  #stderr = "";
  #isOver = false;
  #wakers: (() => void)[] = [];

  constructor(words: readonly string[], env: Readonly<Record<string, string>>) {
    this.#env = env;
    this.child = spawn(process.execPath, ["-C", "relay-source", MAIN, ...words], {
      env: { PATH: process.env["PATH"] ?? "", NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stdout?.on("data", (chunk: Buffer) => {
      this.#stdout += chunk.toString("utf8");
      this.#wake();
    });
    this.child.stderr?.on("data", (chunk: Buffer) => (this.#stderr += chunk.toString("utf8")));
    this.ended = new Promise((resolve) => {
      this.child.on("close", (code) => {
        this.#isOver = true;
        this.#wake();
        resolve({ code, stdout: this.#stdout, stderr: this.#stderr });
      });
    });
  }

  get stdout(): string {
    return this.#stdout;
  }

  /** Where it says it is; only after `serveRelay`. */
  get url(): string {
    return / is running at (\S+)\n/.exec(this.#stdout)?.[1] ?? "";
  }

  /** Waits until it has said something on stdout; throws when it ends before. */
  async says(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.#stdout);
      if (found !== null) return found[0];
      if (this.#isOver) throw new Error(`it ended: ${this.#stdout}${this.#stderr}`);
      await new Promise<void>((resolve) => this.#wakers.push(resolve));
    }
  }

  /** One REST request to it, with the operator's token unless another key is given. */
  async rest(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<{ status: number; body: JsonObject }> {
    const operator = (): string =>
      readFileSync(join(this.#env["RELAY_DATA_DIR"] ?? "", "operator-token"), "utf8").trim();
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key ?? operator()}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as JsonObject };
  }

  /** Asks it to stop, as Ctrl-C does, and waits for its end. */
  stop(): Promise<Ended> {
    this.child.kill("SIGINT");
    return this.ended;
  }

  /** Ends it at once, with no chance to tidy up. */
  kill(): Promise<Ended> {
    this.child.kill("SIGKILL");
    return this.ended;
  }

  /** Never leaves a process behind, whatever became of the test. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOver) await this.kill();
  }

  #wake(): void {
    for (const wake of this.#wakers.splice(0)) wake();
  }
}
