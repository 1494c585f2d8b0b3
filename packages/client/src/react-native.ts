/**
 * The client for React Native: the link is kept in the system's key store, and the app reconnects
 * when it comes to the front.
 */
import { parseLinkRecord } from "./link-store.ts";
import type { LinkStore } from "./link-store.ts";
import type { WakeUps } from "./runtime.ts";

export * from "./index.ts";

/** A key store of text, as `expo-secure-store` is; others take three lines. */
export type SecureStore = {
  getItemAsync(key: string): Promise<string | null>;
  setItemAsync(key: string, value: string): Promise<void>;
};

/** The part of React Native's `AppState` that is used. */
export type AppState = {
  addEventListener(
    type: "change",
    listener: (state: string) => void,
  ): { readonly remove: () => void };
};

/** Keeps the link in a key store, such as `secureStore(SecureStore)`. */
export function secureStore(keys: SecureStore, key = "relay"): LinkStore {
  return {
    load: async () => parseLinkRecord(await keys.getItemAsync(key)),
    save: (record) => keys.setItemAsync(key, JSON.stringify(record)),
  };
}

/** Wakes the app when it comes to the front: `wakeUps: appStateWakeUps(AppState)`. */
export function appStateWakeUps(appState: AppState): WakeUps {
  return (wake) => {
    const subscription = appState.addEventListener("change", (state) => {
      if (state === "active") wake();
    });
    return () => subscription.remove();
  };
}
