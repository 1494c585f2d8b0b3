import { spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { applyHunks } from "./apply-patch.ts";
import type { Patch } from "./apply-patch.ts";

/** How a run of tests ended. `notLoaded`: the file itself failed, so no test said anything. */
export type TestRun = {
  readonly outcome: "passed" | "failed" | "notLoaded" | "hung";
  /** The first test that failed. */
  readonly failed: string | null;
  readonly output: string;
  readonly ms: number;
};

/** What is copied of the root besides `packages` and `test`. */
const ROOT_FILES = ["package.json", "tsconfig.json"];

/**
 * A copy of the sources in which faults are put and tests are run. Workspaces of the copy find each
 * other in the copy; all other packages are the root's own.
 */
export class Workshop {
  readonly folder: string;
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
    this.folder = mkdtempSync(join(tmpdir(), "relay-mutants-"));
    const skip = /(?:^|\/)(?:node_modules|dist|data)(?:\/|$)/;
    for (const name of ["packages", "test"]) {
      const from = join(source, name);
      const filter = (path: string): boolean => !skip.test(path.slice(source.length));
      cpSync(from, join(this.folder, name), { recursive: true, filter });
    }
    for (const name of ROOT_FILES) cpSync(join(source, name), join(this.folder, name));
    this.#linkPackages();
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Puts the fault in; returns what takes it out again. */
  damage(patch: Patch): () => void {
    const changed = [...patch.files].map(([name, hunks]) => {
      const path = join(this.folder, name);
      const before = readFileSync(path, "utf8");
      return { path, before, after: applyHunks(before, hunks) };
    });
    for (const { path, after } of changed) writeFileSync(path, after);
    return () => {
      for (const { path, before } of changed) writeFileSync(path, before);
    };
  }

  /** Runs a test file, or those of its tests whose names match `pattern`, for at most `ms`. */
  test(file: string, pattern: string | null, ms: number): Promise<TestRun> {
    const named = pattern === null ? [] : [`--test-name-pattern=${pattern}`];
    const args = ["-C", "relay-source", "--test", "--test-force-exit", "--test-reporter=tap"];
    const started = performance.now();
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [...args, ...named, file], {
        cwd: this.folder,
        // A group of its own, so that what the tests start ends with them.
        detached: true,
        env: { ...process.env, NODE_TEST_CONTEXT: undefined },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let output = "";
      const add = (chunk: Buffer): void => void (output += chunk.toString());
      child.stdout.on("data", add);
      child.stderr.on("data", add);
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        endGroup(child.pid);
      }, ms);
      child.on("close", (code) => {
        clearTimeout(timer);
        const failed = failedTests(output, file);
        const outcome = isLate
          ? "hung"
          : code === 0
            ? "passed"
            : failed.length > 0
              ? "failed"
              : "notLoaded";
        resolve({ outcome, failed: failed[0] ?? null, output, ms: performance.now() - started });
      });
    });
  }

  #linkPackages(): void {
    const modules = join(this.folder, "node_modules");
    mkdirSync(join(modules, "@relay"), { recursive: true });
    for (const name of readdirSync(join(this.folder, "packages"))) {
      symlinkSync(join(this.folder, "packages", name), join(modules, "@relay", name));
    }
    for (const name of readdirSync(join(this.#source, "node_modules"))) {
      if (name !== "@relay")
        symlinkSync(join(this.#source, "node_modules", name), join(modules, name));
    }
  }
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch (error) {
    // It may have ended by itself meanwhile.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** The names of the tests that failed; a file that could not be run at all is none. */
function failedTests(output: string, file: string): string[] {
  return [...output.matchAll(/^\s*not ok \d+ - (.+)$/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => !name.endsWith(file));
}
