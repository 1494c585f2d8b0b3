/**
 * `<relay-connect>`, for the settings page of any web app: importing this defines the element. It
 * hides how a link's state, its hosts and its last calls are shown; nothing of the socket is here.
 * Compiled with the types of pages, which the rest of the client does without.
 */
import { RelayConnect } from "./relay-connect.ts";

declare global {
  // A map of the language's own, which only an interface can add to.
  interface HTMLElementTagNameMap {
    "relay-connect": RelayConnect;
  }
}

// Two copies of this module in one page share the first one's element.
if (globalThis.customElements?.get("relay-connect") === undefined) {
  globalThis.customElements?.define("relay-connect", RelayConnect);
}

export { keepCalls } from "./call-log.ts";
export type { CallLog, LoggedCall } from "./call-log.ts";
export { RelayConnect };
export { WORDS } from "./words.ts";
export type { WordKey, Words } from "./words.ts";
