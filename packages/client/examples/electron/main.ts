/**
 * The main process of a notes app made with Electron. The link is encrypted with the key of the
 * system's account, the app reconnects when the computer wakes, and it asks before it deletes.
 * `electron .` runs it where Electron is installed; RELAY_PUBLIC_URL and PUBLISHABLE_KEY say where to.
 */
import { join } from "node:path";
import process from "node:process";
import { createRelay, powerWakeUps, safeStorageStore, tool } from "@relay/client/electron";
import { app, dialog, powerMonitor, safeStorage } from "electron";

const { RELAY_PUBLIC_URL: relayUrl = "http://localhost:8787", PUBLISHABLE_KEY = "" } = process.env;

const notes = ["Q3 invoices: two of them unpaid", "Plant the tulips before the frost"];
const matching = (query: string): string[] =>
  notes.filter((note) => note.toLowerCase().includes(query.toLowerCase()));

const query = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };

const searchNotes = tool("search_notes", {
  description: "Full-text search of the person's notes",
  input: { ...query, type: "object" },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
  run: (args) => ({ found: matching(String(args["query"])) }),
});

const deleteNotes = tool("delete_notes", {
  description: "Deletes every note that holds the query; the person is asked first",
  input: { ...query, type: "object" },
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
  run: (args) => {
    const doomed = matching(String(args["query"]));
    for (const note of doomed) notes.splice(notes.indexOf(note), 1);
    return `Deleted ${doomed.length}.`;
  },
});

// Electron has no key store before it is ready.
await app.whenReady();

const relay = createRelay({
  relayUrl,
  publishableKey: PUBLISHABLE_KEY,
  app: { name: app.getName(), version: app.getVersion() },
  tools: [searchNotes, deleteNotes],
  store: safeStorageStore(safeStorage, join(app.getPath("userData"), "relay-link")),
  wakeUps: powerWakeUps(powerMonitor),
  beforeRun: async ({ tool: { name, annotations }, arguments: args, signal }) => {
    if (annotations?.destructiveHint !== true) return true;
    const { response } = await dialog.showMessageBox({
      type: "warning",
      message: `Let an AI host run ${name}?`,
      detail: JSON.stringify(args, null, 2),
      buttons: ["Don't allow", "Allow"],
      defaultId: 0,
      cancelId: 0,
      // Takes the dialog away when nobody waits for the answer any more.
      signal,
    });
    return response === 1;
  },
});
relay.on("state", ({ status }) => process.stderr.write(`${status}\n`));
app.on("before-quit", () => relay.stop());
await relay.start();
process.stdout.write(`${relay.mcpUrl}\n`);
