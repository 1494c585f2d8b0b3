import type { Config } from "../config.ts";
import { openLog } from "../observe/log.ts";
import { RelayApi } from "./relay-api.ts";
import { startRelay } from "./serve.ts";

/** `relay setup-link`: prints a new link that makes the first user. Returns the exit code. */
export function setUpLink(config: Config): Promise<number> {
  return told(config, async (api) => {
    const url = await api.setUpLink(config);
    return `Make the first user of this Relay within 30 minutes:\n\n  ${url}\n\nThe link works once, and no link before it does any more.\n`;
  });
}

/** `relay user reset-password EMAIL`: prints a link that sets a new password. Returns the exit code. */
export function resetPassword(config: Config, email: string): Promise<number> {
  return told(config, async (api) => {
    const url = await api.passwordLink(config, email);
    return `Whoever opens this link within an hour sets a new password for ${email}:\n\n  ${url}\n\nIt works once, and ends every session of the user.\n`;
  });
}

/** Asks the running Relay, or one that runs just for this. */
async function told(config: Config, ask: (api: RelayApi) => Promise<string>): Promise<number> {
  try {
    process.stdout.write(await answered(config, ask));
    return 0;
  } catch (error) {
    process.stderr.write(`relay: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

async function answered(config: Config, ask: (api: RelayApi) => Promise<string>): Promise<string> {
  const running = new RelayApi(config.publicUrl);
  if (await running.isRunning()) return ask(running);
  // Its links name the public URL that is configured, although it listens on a port of its own.
  const relay = await startRelay({ ...config, host: "127.0.0.1", port: 0 }, openLog("error"));
  try {
    return await ask(new RelayApi(`http://127.0.0.1:${relay.port}`));
  } finally {
    await relay.stop();
  }
}
