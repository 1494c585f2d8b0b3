// A page whose notes an AI host can search and add to.
import { createRelay, tool } from "@relay/client/browser";

const { relayUrl, publishableKey } = await (await fetch("settings.json")).json();
const notes = ["Q3 invoices: two of them unpaid", "Plant the tulips before the frost"];
const show = (id, text) => (document.getElementById(id).textContent = text);

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
relay.on("state", ({ status, reason }) =>
  show("state", reason ? `${status}: ${reason.message}` : status),
);
relay.on("url", (url) => show("url", url));
showNotes();
void relay.start();
