// A page whose notes an AI host can search and add to.
import { createRelay, tool } from "@relay/client/browser";
import { keepCalls } from "@relay/client/widget";

const { relayUrl, publishableKey } = await (await fetch("settings.json")).json();
const notes = ["Q3 invoices: two of them unpaid", "Plant the tulips before the frost"];

function showNotes() {
  const items = notes.map((text) =>
    Object.assign(document.createElement("li"), { textContent: text }),
  );
  document.getElementById("notes").replaceChildren(...items);
}

const searchNotes = tool("search_notes", {
  description: "Full-text search of the person's notes",
  input: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
  run: ({ query }) => ({
    found: notes.filter((note) => note.toLowerCase().includes(query.toLowerCase())),
  }),
});

const addNote = tool("add_note", {
  description: "Adds a note to the person's notes",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  run: ({ text }) => {
    notes.push(text);
    showNotes();
    return "Added.";
  },
});

const relay = createRelay({
  relayUrl,
  publishableKey,
  app: { name: "Notes", version: "1.0.0" },
  tools: [searchNotes, addNote],
});
keepCalls(relay);
// What the page says of its connection, and what the person can do about it, is the widget's.
document.querySelector("relay-connect").relay = relay;
showNotes();
void relay.start();
