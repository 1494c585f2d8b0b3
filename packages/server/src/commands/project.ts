import type { Config } from "../config.ts";
import { openLog } from "../observe/log.ts";
import { RelayApi } from "./relay-api.ts";
import type { MadeProject } from "./relay-api.ts";
import { startRelay } from "./serve.ts";

/**
 * `relay project create NAME`: makes a project through the running Relay, or through one that runs
 * just for this, and prints its keys. Returns the exit code.
 */
export async function createProject(config: Config, name: string): Promise<number> {
  try {
    const project = await make(config, name);
    process.stdout.write(
      [
        `Project ${project.name} (${project.projectId})`,
        "",
        `  publishable key   ${project.publishableKey}   goes into your app; creates links`,
        `  secret key        ${project.secretKey}   stays on your server; shown this once`,
        "",
      ].join("\n"),
    );
    return 0;
  } catch (error) {
    process.stderr.write(`relay: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

async function make(config: Config, name: string): Promise<MadeProject> {
  const running = new RelayApi(config.publicUrl);
  if (await running.isRunning()) return running.createProject(config, name);
  const relay = await startRelay({ ...config, host: "127.0.0.1", port: 0 }, openLog("error"));
  try {
    return await new RelayApi(`http://127.0.0.1:${relay.port}`).createProject(config, name);
  } finally {
    await relay.stop();
  }
}
