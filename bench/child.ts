import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

const ROOT = join(import.meta.dirname, "..");

const TICKS_PER_SECOND = 100;

/** A process of a measurement: one JSON question a line in, one JSON answer a line out. */
export class Child {
  readonly #process: ChildProcess;
  readonly #lines: string[] = [];
  readonly #file: string;
  #waiting: (() => void)[] = [];
  #hasEnded = false;

  constructor(file: string, args: readonly string[] = [], env: Record<string, string> = {}) {
    this.#file = file;
    const flags = ["--expose-gc", "-C", "relay-source"];
    this.#process = spawn(process.execPath, [...flags, file, ...args], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    if (this.#process.stdout === null) throw new Error("a child without stdout");
    createInterface({ input: this.#process.stdout }).on("line", (line) => {
      this.#lines.push(line);
      this.#wake();
    });
    this.#process.once("exit", () => {
      this.#hasEnded = true;
      this.#wake();
    });
  }

  /** Sends a question and waits for its answer. */
  async ask<Answer>(question: unknown): Promise<Answer> {
    this.#lines.length = 0;
    this.#process.stdin?.write(`${JSON.stringify(question)}\n`);
    return JSON.parse(await this.line(() => true)) as Answer;
  }

  /** Waits for a line of its output; rejects if it ends without it. */
  async line(isWanted: (line: string) => boolean): Promise<string> {
    for (;;) {
      const found = this.#lines.find(isWanted);
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error(`${this.#file} ended; what it printed last is above`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Reads a file that the child has written. */
  async file(path: string): Promise<string> {
    return (await readFile(path, "utf8")).trim();
  }

  /** Processor time it has used in all, in seconds; reads `/proc`, so 0 where there is none. */
  async cpuSeconds(): Promise<number> {
    const stat = await readFile(`/proc/${this.#process.pid}/stat`, "utf8").catch(() => "");
    const [, , , , , , , , , , , user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(")"))
      .split(" ");
    return (Number(user) + Number(system)) / TICKS_PER_SECOND;
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
