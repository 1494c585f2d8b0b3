import type { FrameErrorCode } from "./errors.ts";
import { LIMITS } from "./limits.ts";

/** The version of the socket protocol this package describes; the `protocol` of a hello. */
export const PROTOCOL_VERSION = 1;

export type AppInfo = { readonly name: string; readonly version: string };
export type LintWarning = { readonly path: string; readonly message: string };

/** The commands with which the person controls their own link from the app. */
export const LINK_COMMANDS = ["link.rotate", "link.pause", "link.resume", "link.revoke"] as const;
export type LinkCommand = (typeof LINK_COMMANDS)[number];

/**
 * A frame from an app, its fields of the right types. What is inside `app`, `tools`, `content` and
 * `structuredContent` is judged later, where the rules about it live.
 */
export type AppFrame =
  | {
      readonly type: "hello";
      readonly protocol: number;
      readonly token: string;
      readonly app: unknown;
      readonly instructions: unknown;
      readonly tools: unknown;
    }
  | {
      readonly type: "result";
      readonly id: string;
      readonly content: unknown;
      readonly structuredContent: unknown;
      readonly isError: unknown;
    }
  | { readonly type: "error"; readonly id: string; readonly message: unknown }
  | {
      readonly type: "progress";
      readonly id: string;
      readonly progress: number;
      readonly total: number | null;
      readonly message: string | null;
    }
  | { readonly type: "ping" }
  | { readonly type: LinkCommand; readonly id: string };

/** Why a frame can't be used: `id` is the frame's own where it could be read. */
export type FrameFault = { readonly id: string | null; readonly message: string };

/** A frame from Relay to an app. */
export type RelayFrame =
  | {
      readonly type: "ready";
      readonly linkId: string;
      readonly paused: boolean;
      readonly limits: { readonly callTimeoutSeconds: number; readonly resultMaxBytes: number };
      readonly warnings?: readonly LintWarning[];
    }
  | {
      readonly type: "call";
      readonly id: string;
      readonly tool: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      /** ISO 8601 UTC. */
      readonly deadline: string;
    }
  | { readonly type: "cancel"; readonly id: string }
  | {
      readonly type: "error";
      readonly id: string | null;
      readonly code: FrameErrorCode;
      readonly message: string;
    }
  | { readonly type: "pong" }
  | { readonly type: "link.rotated"; readonly id: string | null; readonly mcpUrl: string }
  | { readonly type: "link.state"; readonly id: string | null; readonly paused: boolean }
  | { readonly type: "link.revoked"; readonly id: string | null };

type Fields = Readonly<Record<string, unknown>>;

const COMMAND_ID_CHARS_MAX = 64;

/**
 * Reads a frame from an app out of parsed JSON. Unknown extra fields are ignored; an unknown type
 * or a field of the wrong type is a fault that names the place.
 */
export function parseAppFrame(
  value: unknown,
): { readonly frame: AppFrame } | { readonly fault: FrameFault } {
  if (!isFields(value)) return faulty(null, "a frame must be a JSON object");
  const type = own(value, "type");
  if (typeof type !== "string") return faulty(readableId(value), "type must be a string");
  switch (type) {
    case "hello":
      return parseHello(value);
    case "result":
    case "error":
      return parseAnswer(value, type);
    case "progress":
      return parseProgress(value);
    case "ping":
      return { frame: { type: "ping" } };
    case "link.rotate":
    case "link.pause":
    case "link.resume":
    case "link.revoke":
      return parseCommand(value, type);
    default:
      return faulty(readableId(value), `unknown frame type ${JSON.stringify(type.slice(0, 64))}`);
  }
}

type Parsed = ReturnType<typeof parseAppFrame>;

function parseHello(value: Fields): Parsed {
  const protocol = own(value, "protocol");
  if (typeof protocol !== "number" || !Number.isInteger(protocol)) {
    return faulty(null, "protocol must be an integer");
  }
  const token = own(value, "token");
  if (typeof token !== "string") return faulty(null, "token must be a string");
  const app = own(value, "app");
  if (!isFields(app)) return faulty(null, "app must be an object");
  const instructions = own(value, "instructions");
  if (instructions !== undefined && typeof instructions !== "string") {
    return faulty(null, "instructions must be a string");
  }
  const tools = own(value, "tools");
  if (!Array.isArray(tools)) return faulty(null, "tools must be an array");
  return { frame: { type: "hello", protocol, token, app, instructions, tools } };
}

/** An answer needs only its id here: any other fault in it still ends the call it names (SPEC 5). */
function parseAnswer(value: Fields, type: "result" | "error"): Parsed {
  const id = own(value, "id");
  if (typeof id !== "string") return faulty(null, "id must be a string");
  if (type === "error") return { frame: { type, id, message: own(value, "message") } };
  const content = own(value, "content");
  const structuredContent = own(value, "structuredContent");
  return { frame: { type, id, content, structuredContent, isError: own(value, "isError") } };
}

function parseProgress(value: Fields): Parsed {
  const id = own(value, "id");
  if (typeof id !== "string") return faulty(null, "id must be a string");
  const shown = readableId(value);
  const progress = own(value, "progress");
  if (typeof progress !== "number" || !Number.isFinite(progress)) {
    return faulty(shown, "progress must be a number");
  }
  const total = own(value, "total");
  if (total !== undefined && (typeof total !== "number" || !Number.isFinite(total))) {
    return faulty(shown, "total must be a number");
  }
  const message = own(value, "message");
  if (message !== undefined && typeof message !== "string") {
    return faulty(shown, "message must be a string");
  }
  const charsMax = LIMITS.progressMessageChars.value;
  if (message !== undefined && countCodePoints(message, charsMax) > charsMax) {
    return faulty(shown, `message must be at most ${charsMax} characters`);
  }
  return {
    frame: { type: "progress", id, progress, total: total ?? null, message: message ?? null },
  };
}

function parseCommand(value: Fields, type: LinkCommand): Parsed {
  const id = readableId(value);
  if (id === null) {
    return faulty(null, `id must be a string of 1 to ${COMMAND_ID_CHARS_MAX} characters`);
  }
  return { frame: { type, id } };
}

function faulty(id: string | null, message: string): Parsed {
  return { fault: { id, message } };
}

/** The frame's id if it is one that Relay may repeat: a string of 1 to 64 code points. */
function readableId(value: Fields): string | null {
  const id = own(value, "id");
  if (typeof id !== "string" || id === "") return null;
  return countCodePoints(id, COMMAND_ID_CHARS_MAX) <= COMMAND_ID_CHARS_MAX ? id : null;
}

/** Counts code points, giving up one past `max`. */
export function countCodePoints(text: string, max = Number.POSITIVE_INFINITY): number {
  let points = 0;
  for (let at = 0; at < text.length && points <= max; points += 1) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return points;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads an own property, so that an inherited name is never mistaken for a field. */
function own(value: Fields, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
