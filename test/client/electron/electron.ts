/**
 * Stands in for the module `electron` in the example's process: what of it is Electron itself. Lines
 * on stdin are what happens to a computer: `resume`, `quit`, and the person's answers to dialogs.
 */
import { EventEmitter, once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";

const { USER_DATA = "" } = process.env;
const lines = createInterface({ input: process.stdin });
const happened = new EventEmitter();
lines.on("line", (line) => {
  if (line === "resume") powerMonitor.emit("resume");
  else if (line === "quit") {
    app.emit("before-quit");
    // Nothing else keeps the process; Electron would end it too.
    process.stdin.destroy();
  } else happened.emit("answer", line);
});

export const app = Object.assign(new EventEmitter(), {
  whenReady: () => Promise.resolve(),
  getName: () => "Notes",
  getVersion: () => "1.0.0",
  getPath: () => USER_DATA,
});

export const powerMonitor = new EventEmitter();

export const safeStorage = {
  isEncryptionAvailable: () => true,
  encryptString: (text: string) => Buffer.from(text).map((byte) => byte ^ 0x55),
  decryptString: (bytes: Uint8Array) => Buffer.from(bytes.map((byte) => byte ^ 0x55)).toString(),
};

export const dialog = {
  showMessageBox: async ({
    message,
    buttons,
    signal,
  }: {
    readonly message: string;
    readonly buttons: readonly string[];
    readonly signal: AbortSignal;
  }) => {
    process.stderr.write(`dialog: ${message}\n`);
    const [answer] = (await once(happened, "answer", { signal })) as [string];
    return { response: buttons.indexOf(answer) };
  },
};
