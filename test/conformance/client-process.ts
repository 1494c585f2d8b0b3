import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/** No client needs longer; one that does is killed. */
const LIMIT_MS = 60_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** How a client's process ended; `code` is null when it was killed. */
export type ClientRun = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/**
 * Runs a client's command to its end, in a home of its own. Its stdin stays open, since some take
 * its end as a wish to stop. An aborted `signal` kills it.
 */
export async function runClient(
  file: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<ClientRun> {
  using home = new ClientHome();
  return await new Promise((resolve) => {
    execFile(
      process.execPath,
      [file, ...args],
      {
        cwd: home.path,
        env: home.env,
        timeout: LIMIT_MS,
        killSignal: "SIGKILL",
        maxBuffer: OUTPUT_BYTES_MAX,
        ...(signal === undefined ? {} : { signal }),
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : null;
        resolve({ code, stdout, stderr });
      },
    );
  });
}

/** A home folder for one process of a client, and an environment that keeps the process in it. */
export class ClientHome {
  readonly path = mkdtempSync(join(tmpdir(), "relay-client-"));

  get env(): Record<string, string> {
    return {
      PATH: [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
      HOME: this.path,
      NO_COLOR: "1",
      // What is not on loopback goes to a proxy that nobody runs: no client phones home from a test.
      NODE_USE_ENV_PROXY: "1",
      HTTP_PROXY: "http://127.0.0.1:9",
      HTTPS_PROXY: "http://127.0.0.1:9",
      NO_PROXY: "localhost,127.0.0.1,[::1]",
    };
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
