/** What this example uses of Electron, whose own types come with it where it is installed. */
declare module "electron" {
  import type { PowerMonitor, SafeStorage } from "@relay/client/electron";

  export const app: {
    whenReady(): Promise<void>;
    getName(): string;
    getVersion(): string;
    getPath(name: "userData"): string;
    on(event: "before-quit", listener: () => void): unknown;
  };
  export const dialog: {
    showMessageBox(options: {
      readonly type: "warning";
      readonly message: string;
      readonly detail: string;
      readonly buttons: readonly string[];
      readonly defaultId: number;
      readonly cancelId: number;
      readonly signal: AbortSignal;
    }): Promise<{ readonly response: number }>;
  };
  export const powerMonitor: PowerMonitor;
  export const safeStorage: SafeStorage;
}
