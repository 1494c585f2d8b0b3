import { tool } from "@relay/client";
import type { Tool } from "@relay/client";

export const DEMO_APP = { name: "Notes", version: "1.0.0" } as const;

export const DEMO_INSTRUCTIONS =
  "Notes is the person's local notebook. Search it before answering questions about their notes.";

const notes = [
  "Q3 invoices: sent to Maria, two of them unpaid",
  "Invoice template: logo left, due in 30 days",
  "Unpaid invoices: Acme 1,200, Globex 340",
  "Garden: plant the tulips before the frost",
  "Reading list: The Dispossessed, Middlemarch",
];

/** The tools of the sample app: a notebook that lives as long as the process. */
export const DEMO_TOOLS: readonly Tool[] = [
  tool("search_notes", {
    description: "Full-text search of the person's notes",
    input: {
      type: "object",
      properties: { query: { type: "string", minLength: 1 } },
      required: ["query"],
    },
    annotations: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    run: ({ query }) => {
      const wanted = query.toLowerCase();
      const found = notes.filter((note) => note.toLowerCase().includes(wanted));
      return `${found.length} notes match${found.length === 0 ? "." : `: ${found.join("; ")}.`}`;
    },
  }),
  tool("add_note", {
    description: "Adds a note to the person's notebook",
    input: {
      type: "object",
      properties: { text: { type: "string", minLength: 1, maxLength: 1000 } },
      required: ["text"],
    },
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: false,
    },
    run: ({ text }) => {
      notes.push(text);
      return `Added. There are ${notes.length} notes now.`;
    },
  }),
];
