/** The app that the clients call: one tool for every kind of answer a host can get from an app. */
import { connectApp } from "../e2e/harness.ts";
import type { JsonObject, TestApp, TestLink } from "../e2e/harness.ts";

/** Connects the app to a link; it is called Notes. */
export function connectNotes(link: TestLink): Promise<TestApp> {
  return connectApp(link, { tools: TOOLS, onCall: answer });
}

const TOOLS = [
  {
    name: "search_notes",
    description: "Searches the notes; answers with the query it got.",
    inputSchema: {
      type: "object",
      properties: { query: { type: "string" } },
      required: ["query"],
    },
  },
  {
    name: "count_notes",
    description: "Counts the notes; answers with structured content.",
    inputSchema: { type: "object", properties: {} },
    outputSchema: {
      type: "object",
      properties: { count: { type: "integer" } },
      required: ["count"],
    },
  },
  {
    name: "delete_note",
    description: "Deletes a note that is not there: the answer is an error.",
    inputSchema: { type: "object", properties: {} },
  },
  {
    name: "notes_of_city",
    description: "Answers with the city, which modern hosts also put in a header.",
    inputSchema: {
      type: "object",
      properties: { city: { type: "string", "x-mcp-header": "City" } },
      required: ["city"],
    },
  },
  {
    name: "watch_notes",
    description: "Answers only when the test makes it.",
    inputSchema: { type: "object", properties: {} },
  },
] as const;

/** In the order of the manifest. */
export const NOTES_TOOLS: readonly string[] = TOOLS.map((tool) => tool.name);

/** The frame that answers a call with one text block. */
export function textResult(call: JsonObject, text: string): JsonObject {
  return { type: "result", id: call["id"], content: [{ type: "text", text }] };
}

function answer(call: JsonObject): JsonObject | null {
  const args = call["arguments"];
  switch (call["tool"]) {
    case "search_notes":
      return textResult(call, `searched for ${args.query}`);
    case "count_notes":
      return { ...textResult(call, "3 notes"), structuredContent: { count: 3 } };
    case "delete_note":
      return { ...textResult(call, "There is no such note."), isError: true };
    case "notes_of_city":
      return textResult(call, `notes of ${args.city}`);
    default:
      return null;
  }
}
