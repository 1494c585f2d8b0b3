/**
 * The app that the official conformance suite calls through Relay: its tools, names and answers are
 * the ones the suite's scenarios ask for.
 */
import { connectApp } from "../e2e/harness.ts";
import type { JsonObject, TestApp, TestLink } from "../e2e/harness.ts";

/** Connects the fixture app to a link. */
export function connectFixtureApp(link: TestLink): Promise<TestApp> {
  return connectApp(link, {
    app: { name: "Conformance fixture", version: "1.0.0" },
    tools: TOOLS,
    onCall: (call, app) => {
      const tool = String(call["tool"]);
      if (tool === "test_tool_with_progress") sendProgress(app, call);
      return ANSWERS[tool] ?? { type: "error", message: `no such tool: ${tool}` };
    },
  });
}

/** Three steps at once: the relay has to pass on all of them before the answer. */
function sendProgress(app: TestApp, call: JsonObject): void {
  for (const progress of [0, 50, 100]) {
    app.send({ type: "progress", id: call["id"], progress, total: 100 });
  }
}

const NO_ARGUMENTS = { type: "object", properties: {} } as const;

/**
 * The header scenarios call the first tool with no arguments and no `Mcp-Param-*` header, and the
 * first tool with an `x-mcp-header` with that one argument or none.
 */
const TOOLS = [
  plainTool("test_simple_text", "Answers with one text block."),
  plainTool("test_image_content", "Answers with a PNG image."),
  plainTool("test_audio_content", "Answers with a WAV sound."),
  plainTool("test_embedded_resource", "Answers with an embedded resource."),
  plainTool("test_multiple_content_types", "Answers with text, an image and a resource."),
  plainTool("test_error_handling", "Answers with an error, always."),
  plainTool("test_tool_with_progress", "Reports 0, 50 and 100 of 100, then answers."),
  plainTool("test_logging_tool", "Answers without a word to the log."),
  plainTool("test_streaming_elicitation", "Answers without asking the person anything."),
  {
    name: "test_custom_header",
    description: "Takes one argument that hosts mirror into a header.",
    inputSchema: {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region" } },
    },
  },
  {
    name: "json_schema_2020_12_tool",
    description: "Has an input schema with much of what JSON Schema 2020-12 offers.",
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          $anchor: "addressDef",
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: {
        name: { type: "string" },
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: { type: "string" },
        email: { type: "string" },
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    },
  },
] as const;

function plainTool(name: string, description: string): JsonObject {
  return { name, description, inputSchema: NO_ARGUMENTS };
}

/** One red pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/** A sound of no samples: 8 kHz, mono, 8 bits. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const IMAGE = { type: "image", data: PNG, mimeType: "image/png" } as const;

const ANSWERS: Readonly<Record<string, JsonObject>> = {
  test_simple_text: result(text("One plain sentence.")),
  test_image_content: result(IMAGE),
  test_audio_content: result({ type: "audio", data: WAV, mimeType: "audio/wav" }),
  test_embedded_resource: result(resource("test://embedded", "text/plain", "A resource's text.")),
  test_multiple_content_types: result(
    text("Text, an image and a resource:"),
    IMAGE,
    resource("test://mixed", "application/json", '{"test":"data","value":123}'),
  ),
  test_error_handling: { ...result(text("This tool always fails.")), isError: true },
  test_tool_with_progress: result(text("Done.")),
  test_logging_tool: result(text("Nothing was logged.")),
  test_streaming_elicitation: result(text("Nobody was asked.")),
  test_custom_header: result(text("The header fits.")),
  json_schema_2020_12_tool: result(text("The arguments fit.")),
};

function result(...content: readonly JsonObject[]): JsonObject {
  return { type: "result", content };
}

function text(words: string): JsonObject {
  return { type: "text", text: words };
}

function resource(uri: string, mimeType: string, words: string): JsonObject {
  return { type: "resource", resource: { uri, mimeType, text: words } };
}
