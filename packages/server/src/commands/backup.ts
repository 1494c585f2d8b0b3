import type { Config } from "../config.ts";
import { join } from "node:path";
import type { BackupPort } from "../api/operator-backup.ts";
import { backUp, restore } from "../store/backup.ts";

/** `relay backup FILE`: copies the data folder into one file, also while a server runs. */
export function backupCommand(config: Config, file: string): Promise<number> {
  return told(async () => {
    await backUp(config.dataDir, file);
    return `${file} holds everything in ${config.dataDir}, its secrets too: keep it where nobody else can read it.`;
  });
}

/** What sends backups of a running server; each lies in the data folder until it is sent. */
export function backupPort(dataDir: string): BackupPort {
  const file = join(dataDir, "backup.sending");
  return { file, make: () => backUp(dataDir, file) };
}

/** `relay restore FILE`: makes a new data folder of a backup. */
export function restoreCommand(config: Config, file: string): Promise<number> {
  return told(async () => {
    restore(file, config.dataDir);
    return `${config.dataDir} is as it was when ${file} was made. \`relay doctor\` looks it over.`;
  });
}

async function told(run: () => Promise<string>): Promise<number> {
  try {
    process.stdout.write(`${await run()}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`relay: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
