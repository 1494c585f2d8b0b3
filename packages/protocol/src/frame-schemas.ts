import { FRAME_ERRORS } from "./errors.ts";
import { LIMITS } from "./limits.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** One kind of frame, for people and tools: a name, a sentence, its JSON Schema, an example. */
export type FrameSchema = {
  readonly name: string;
  readonly summary: string;
  readonly schema: JsonSchema;
  readonly example: Readonly<Record<string, unknown>>;
};

const text: JsonSchema = { type: "string" };
const commandId: JsonSchema = { type: "string", minLength: 1, maxLength: 64 };
const idOrNull: JsonSchema = { type: ["string", "null"] };

/** Describes a frame: `optional` fields may be left out; unknown extra fields are ignored. */
function frame(
  name: string,
  type: string,
  summary: string,
  fields: Readonly<Record<string, JsonSchema>>,
  example: Readonly<Record<string, unknown>>,
  optional: readonly string[] = [],
): FrameSchema {
  const required = ["type", ...Object.keys(fields).filter((field) => !optional.includes(field))];
  return {
    name,
    summary,
    schema: { type: "object", properties: { type: { const: type }, ...fields }, required },
    example: { type, ...example },
  };
}

const callId = "c_9Fq2Lr7Vx4Tm1Nb8";
const content: JsonSchema = { type: "array", items: { type: "object" } };
const exampleContent = [{ type: "text", text: "3 notes match." }];

/** What an app sends, by frame type. */
export const APP_FRAME_SCHEMAS: Readonly<Record<string, FrameSchema>> = {
  hello: frame(
    "hello",
    "hello",
    "Names the link and registers the app's tools; the first frame on a socket.",
    {
      protocol: { const: 1 },
      token: text,
      app: {
        type: "object",
        properties: {
          name: { type: "string", minLength: 1, maxLength: LIMITS.appNameChars.value },
          version: { type: "string", minLength: 1, maxLength: LIMITS.appNameChars.value },
        },
        required: ["name", "version"],
      },
      instructions: { type: "string", maxLength: LIMITS.instructionsChars.value },
      tools: { type: "array", items: { type: "object" }, maxItems: LIMITS.tools.value },
    },
    {
      protocol: 1,
      token: "lt_3Vd9xZr2Lm8Tn4Bw6Yc1Hs7Pf5Gj0A2U",
      app: { name: "Notes", version: "1.4.2" },
      tools: [
        {
          name: "search_notes",
          description: "Full-text search of the person's notes",
          inputSchema: { type: "object", properties: { query: { type: "string" } } },
        },
      ],
    },
    ["instructions"],
  ),
  result: frame(
    "result",
    "result",
    "Answers a call. `content` may be left out where `structuredContent` is there.",
    { id: text, content, structuredContent: { type: "object" }, isError: { type: "boolean" } },
    { id: callId, content: exampleContent, isError: false },
    ["content", "structuredContent", "isError"],
  ),
  error: frame(
    "callError",
    "error",
    "Answers a call that failed, with a message for the model to repeat.",
    { id: text, message: text },
    { id: callId, message: "database is locked" },
  ),
  progress: frame(
    "progress",
    "progress",
    "Tells the host of a running call how far it is; only growing values are passed on.",
    {
      id: text,
      progress: { type: "number" },
      total: { type: "number" },
      message: { type: "string", maxLength: LIMITS.progressMessageChars.value },
    },
    { id: callId, progress: 50, total: 100 },
    ["total", "message"],
  ),
  ping: frame("ping", "ping", "Asks for a pong.", {}, {}),
  "link.rotate": frame(
    "rotateLink",
    "link.rotate",
    "Gives the link a new MCP URL.",
    { id: commandId },
    { id: "r1" },
  ),
  "link.pause": frame(
    "pauseLink",
    "link.pause",
    "Pauses the link.",
    { id: commandId },
    { id: "r2" },
  ),
  "link.resume": frame(
    "resumeLink",
    "link.resume",
    "Resumes the link.",
    { id: commandId },
    { id: "r3" },
  ),
  "link.revoke": frame(
    "revokeLink",
    "link.revoke",
    "Revokes the link for good.",
    { id: commandId },
    { id: "r4" },
  ),
};

/** What Relay sends, by frame type. */
export const RELAY_FRAME_SCHEMAS: Readonly<Record<string, FrameSchema>> = {
  ready: frame(
    "ready",
    "ready",
    "The hello was accepted: hosts can reach the app from now on.",
    {
      linkId: text,
      paused: { type: "boolean" },
      limits: {
        type: "object",
        properties: {
          callTimeoutSeconds: { type: "number" },
          resultMaxBytes: { type: "integer" },
        },
        required: ["callTimeoutSeconds", "resultMaxBytes"],
      },
      warnings: {
        type: "array",
        items: {
          type: "object",
          properties: { path: text, message: text },
          required: ["path", "message"],
        },
      },
    },
    {
      linkId: "0199c4e2-5b7a-7d31-8f2e-6a1c9b3d4e57",
      paused: false,
      limits: { callTimeoutSeconds: 180, resultMaxBytes: 131_072 },
    },
    ["warnings"],
  ),
  call: frame(
    "call",
    "call",
    "A host calls a tool; answer with `result` or `error` before `deadline`.",
    {
      id: text,
      tool: text,
      arguments: { type: "object" },
      deadline: { type: "string", format: "date-time" },
    },
    {
      id: callId,
      tool: "search_notes",
      arguments: { query: "invoices" },
      deadline: "2026-10-12T10:03:00.000Z",
    },
  ),
  cancel: frame(
    "cancel",
    "cancel",
    "The call is over for its host; stop the work if you can.",
    { id: text },
    { id: callId },
  ),
  error: frame(
    "frameError",
    "error",
    "A frame could not be used; `id` is the frame's own or null.",
    { id: idOrNull, code: { enum: Object.keys(FRAME_ERRORS) }, message: text },
    {
      id: null,
      code: "invalid_message",
      message: "tools[2].inputSchema is not a valid JSON Schema",
    },
  ),
  pong: frame("pong", "pong", "Answers a ping.", {}, {}),
  "link.rotated": frame(
    "linkRotated",
    "link.rotated",
    "The link's MCP URL is this one now; `id` is the command's or null.",
    { id: idOrNull, mcpUrl: text },
    {
      id: "r1",
      mcpUrl: "https://api.example.com/relay/v1/mcp/ut_8Hq3Lm2Vx7Tc9Rb4Nw1Ks6Jd5Yf0Pg2E",
    },
  ),
  "link.state": frame(
    "linkState",
    "link.state",
    "The link is paused, or no longer; `id` is the command's or null.",
    { id: idOrNull, paused: { type: "boolean" } },
    { id: "r2", paused: true },
  ),
  "link.revoked": frame(
    "linkRevoked",
    "link.revoked",
    "The link is revoked; the socket closes with 4410.",
    { id: idOrNull },
    { id: "r4" },
  ),
};
