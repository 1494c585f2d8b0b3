/**
 * The client for Electron's main process: the link is encrypted with the key of the system's account,
 * and the app reconnects when the computer wakes. The renderer is a page: it uses `browser`.
 */
import { fileStore } from "./file-store.ts";
import type { LinkStore } from "./link-store.ts";
import { RelayError } from "./relay-error.ts";
import type { WakeUps } from "./runtime.ts";

export * from "./node.ts";

/** The part of Electron's `safeStorage` that is used. */
export type SafeStorage = {
  isEncryptionAvailable(): boolean;
  encryptString(text: string): Uint8Array;
  decryptString(bytes: never): string;
};

/** The part of Electron's `powerMonitor` that is used. */
export type PowerMonitor = {
  on(event: "resume" | "unlock-screen", listener: () => void): unknown;
  removeListener(event: "resume" | "unlock-screen", listener: () => void): unknown;
};

/**
 * Keeps the link in the file `path`, encrypted by Electron's `safeStorage`; to be used after the app
 * is `ready`. Fails with the code `STORE` where the system has no key store: then nothing is written.
 */
export function safeStorageStore(safeStorage: SafeStorage, path: string): LinkStore {
  const checked = (): SafeStorage => {
    if (safeStorage.isEncryptionAvailable()) return safeStorage;
    throw new RelayError("STORE", "This system has no key store to encrypt the link with.");
  };
  return fileStore(path, {
    seal: (text) => checked().encryptString(text),
    // Electron asks for a Buffer, which is what a file reads as.
    unseal: (bytes) => checked().decryptString(bytes as never),
  });
}

/** Wakes the app when the computer does: `wakeUps: powerWakeUps(powerMonitor)`. */
export function powerWakeUps(powerMonitor: PowerMonitor): WakeUps {
  return (wake) => {
    const events = ["resume", "unlock-screen"] as const;
    for (const event of events) powerMonitor.on(event, wake);
    return () => {
      for (const event of events) powerMonitor.removeListener(event, wake);
    };
  };
}
