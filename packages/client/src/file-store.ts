import { link, mkdir, open, readFile, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import { parseLinkRecord } from "./link-store.ts";
import type { LinkRecord, LinkStore } from "./link-store.ts";

/** How a record is written into bytes that others can't read, and back. */
export type Sealing = {
  readonly seal: (text: string) => Uint8Array;
  readonly unseal: (bytes: Uint8Array) => string;
};

const PLAIN: Sealing = {
  seal: (text) => new TextEncoder().encode(text),
  unseal: (bytes) => new TextDecoder().decode(bytes),
};

/**
 * Keeps the link in a file that its owner alone can read (mode 0600). A write is whole or not at all,
 * and processes that create the link at once end up with the same one.
 */
export function fileStore(path: string, { seal, unseal }: Sealing = PLAIN): LinkStore {
  const load = async (): Promise<LinkRecord | null> => {
    const bytes = await readFile(path).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return null;
      throw error;
    });
    return bytes === null ? null : parseLinkRecord(unseal(bytes));
  };
  /** Writes the record beside the file; returns where. */
  const write = async (record: LinkRecord): Promise<string> => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const beside = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
    const file = await open(beside, "wx", 0o600);
    try {
      await file.writeFile(seal(`${JSON.stringify(record, null, 2)}\n`));
      await file.sync();
    } finally {
      await file.close();
    }
    return beside;
  };
  return {
    load,
    save: async (record) => rename(await write(record), path),
    add: async (record) => {
      const beside = await write(record);
      try {
        // Unlike a rename, a link fails where there is a file already.
        await link(beside, path);
      } catch (error) {
        if (codeOf(error) !== "EEXIST") {
          // Some file systems have no links.
          await rename(beside, path);
          return record;
        }
      }
      await unlink(beside);
      return (await load()) ?? record;
    },
  };
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : null;
}
