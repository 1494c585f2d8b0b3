import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Every file of a data folder with the hash of what is in it, but for locks, SQLite's shared memory,
 * and an empty write-ahead log, which whoever reads a database leaves beside it.
 */
export function filesOf(dataDir: string): Record<string, string> {
  const isKept = (name: string): boolean =>
    !/^lock\.db|-shm$/.test(name) &&
    !(name.endsWith("-wal") && statSync(join(dataDir, name)).size === 0);
  const names = readdirSync(dataDir).filter(isKept);
  return Object.fromEntries(
    names.toSorted().map((name) => {
      const bytes = readFileSync(join(dataDir, name));
      return [name, createHash("sha256").update(bytes).digest("hex")];
    }),
  );
}
