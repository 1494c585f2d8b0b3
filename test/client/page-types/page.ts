/** How a page in TypeScript uses the widget. Compiled by `types.test.ts`: each error must be one. */
import { createRelay, tool } from "@relay/client/browser";
import { keepCalls } from "@relay/client/widget";
import type { RelayConnect } from "@relay/client/widget";

const relay = createRelay({
  relayUrl: "http://localhost:8787",
  publishableKey: "pk_x",
  app: { name: "Notes", version: "1" },
  tools: [tool("search", { description: "Searches", run: () => document.title })],
});
keepCalls(relay);

// The tag's name is enough: its class comes with the import.
const element: RelayConnect = document.createElement("relay-connect");
element.relay = relay;
element.relay = null;
element.words = { "act.start": "Verbinden" };
document.body.append(element);

// @ts-expect-error a relay, not its URL
element.relay = "http://localhost:8787";
// @ts-expect-error there is no such text
element.words = { "act.nothing": "Nichts" };
