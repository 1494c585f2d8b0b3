/** Code that works as pasted, with the project's own key and this Relay's address in it. */
export type SnippetFacts = { readonly publicUrl: string; readonly publishableKey: string };

export type Snippet = {
  readonly id: string;
  readonly label: string;
  readonly title: string;
  readonly code: (facts: SnippetFacts) => string;
};

const TOOL = `const searchNotes = tool("search_notes", {
  description: "Full-text search of the person's notes",
  input: {
    type: "object",
    properties: { query: { type: "string" } },
    required: ["query"],
  },
  annotations: { readOnlyHint: true },
  run: ({ query }) => \`You searched for \${query}\`, // what your app does
});`;

const withStore =
  (imports: string, store: string, extra = "") =>
  ({ publicUrl, publishableKey }: SnippetFacts): string =>
    `${imports}

${TOOL}

const relay = createRelay({
  relayUrl: ${JSON.stringify(publicUrl)},
  publishableKey: ${JSON.stringify(publishableKey)},
  app: { name: "Notes", version: "1.0.0" },
  tools: [searchNotes],${store}${extra}
});
relay.on("url", (mcpUrl) => console.log("Give this to your AI host:", mcpUrl));
await relay.start();`;

export const SNIPPETS: readonly Snippet[] = [
  {
    id: "browser",
    label: "Browser",
    title: "app.js",
    code: withStore('import { createRelay, tool } from "@relay/client/browser";', ""),
  },
  {
    id: "node",
    label: "Node, Electron",
    title: "app.js",
    code: withStore(
      'import { createRelay, fileStore, tool } from "@relay/client/node";',
      '\n  store: fileStore("notes-link.json"),',
    ),
  },
  {
    id: "react-native",
    label: "React Native",
    title: "app.js",
    code: withStore(
      `import { AppState } from "react-native";
import * as SecureStore from "expo-secure-store";
import { appStateWakeUps, createRelay, secureStore, tool } from "@relay/client/react-native";`,
      "\n  store: secureStore(SecureStore),",
      "\n  wakeUps: appStateWakeUps(AppState),",
    ),
  },
  { id: "websocket", label: "Raw WebSocket", title: "app.mjs, no package needed", code: rawSocket },
];

function rawSocket({ publicUrl, publishableKey }: SnippetFacts): string {
  return `const made = await fetch(${JSON.stringify(`${publicUrl}/v1/links`)}, {
  method: "POST",
  headers: { Authorization: ${JSON.stringify(`Bearer ${publishableKey}`)} },
});
const { linkToken, mcpUrl, socketUrl } = await made.json(); // keep these: one link a person
console.log("Give this to your AI host:", mcpUrl);

const FINAL = [4401, 4403, 4410]; // do not come back after these
let attempt = 0;
function connect() {
  const socket = new WebSocket(socketUrl);
  const send = (frame) => socket.send(JSON.stringify(frame));
  socket.onopen = () =>
    send({
      type: "hello",
      protocol: 1,
      token: linkToken,
      app: { name: "Notes", version: "1.0.0" },
      tools: [{
        name: "search_notes",
        description: "Full-text search of the person's notes",
        inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
      }],
    });
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(data);
    if (frame.type === "ready") attempt = 0;
    if (frame.type === "error") console.error(frame.message);
    if (frame.type === "call") {
      const text = \`You searched for \${frame.arguments.query}\`; // what your app does
      send({ type: "result", id: frame.id, content: [{ type: "text", text }] });
    }
  };
  socket.onclose = ({ code, reason }) => {
    if (FINAL.includes(code)) return console.error(code, reason);
    setTimeout(connect, Math.min(30, 2 ** attempt++) * (500 + Math.random() * 500));
  };
}
connect();`;
}
