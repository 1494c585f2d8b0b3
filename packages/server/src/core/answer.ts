import type { AppFrame, Limits } from "@relay/protocol";
import { contentBlock } from "./content-block.ts";
import { memberSpans, rawSlice, replaceLoneSurrogates, utf8Bytes } from "./json.ts";
import { checkValue, stepsFor } from "./schema/check.ts";
import { isJsonObject } from "./schema/json-object.ts";
import { placeText } from "./schema/place.ts";
import type { PreparedSchema } from "./schema/prepare.ts";
import { Steps } from "./schema/steps.ts";
import { listOf } from "./json-shape.ts";

/**
 * An app's answer to a call: what goes on to the host, as raw JSON on one line, or why it can't
 * (`The app sent an answer the relay could not accept: <reason>`). `bytes` is the UTF-8 size of
 * `content` and `structuredContent`, or of an error's `message`, as they were received.
 */
export type Answer =
  | {
      readonly ok: true;
      readonly contentText: string;
      readonly structuredText: string | null;
      readonly isError: boolean;
      readonly bytes: number;
    }
  | { readonly ok: false; readonly reason: string; readonly bytes: number };

/**
 * Judges the `result` or `error` frame that answers a call by the rules of SPEC 5 and 8, so that
 * what is accepted makes no MCP client throw. `text` is the raw text of the frame; `output` is the
 * tool's prepared `outputSchema`, null when it has none.
 */
export function judgeAnswer(
  frame: AnswerFrame,
  text: string,
  output: PreparedSchema | null,
  limits: Pick<Limits, "resultBytes">,
): Answer {
  const spans = memberSpans(text);
  const part = (key: string, value: unknown): Part | null => {
    const span = spans.get(key);
    return span === undefined ? null : partOf(rawSlice(text, span), value);
  };
  if (frame.type === "error") return judgeError(part("message", frame.message), limits.resultBytes);
  const content = part("content", frame.content);
  const structured = part("structuredContent", frame.structuredContent);
  const bytes = (content?.bytes ?? 0) + (structured?.bytes ?? 0);
  const refuse = (reason: string): Answer => ({ ok: false, reason, bytes });
  if (bytes > limits.resultBytes) {
    return refuse(tooLarge("content and structuredContent together", bytes, limits.resultBytes));
  }
  const { isError = false } = frame;
  if (typeof isError !== "boolean") return refuse("isError must be a boolean");
  const reason =
    contentFault(content, structured) ?? structuredFault(structured, isError ? null : output);
  if (reason !== null) return refuse(reason);
  const contentText = content?.text ?? "[]";
  const structuredText = isError ? null : (structured?.text ?? null);
  return { ok: true, contentText, structuredText, isError, bytes };
}

type AnswerFrame = Extract<AppFrame, { readonly type: "result" | "error" }>;

/** A member of a frame: its text as it goes out, its value and its size as they came. */
type Part = {
  readonly text: string;
  readonly changed: boolean;
  readonly value: unknown;
  readonly bytes: number;
};

function partOf(raw: string, value: unknown): Part {
  const text = replaceLoneSurrogates(raw);
  return { text, changed: text !== raw, value, bytes: utf8Bytes(raw) };
}

function judgeError(message: Part | null, bytesMax: number): Answer {
  const bytes = message?.bytes ?? 0;
  if (bytes > bytesMax) return { ok: false, reason: tooLarge("message", bytes, bytesMax), bytes };
  if (typeof message?.value !== "string") {
    return { ok: false, reason: "message must be a string", bytes };
  }
  const contentText = `[{"type":"text","text":${message.text}}]`;
  return { ok: true, contentText, structuredText: null, isError: true, bytes };
}

function tooLarge(what: string, bytes: number, bytesMax: number): string {
  return `${what} must be at most ${bytesMax} bytes as JSON, not ${bytes}`;
}

const contentBlocks = listOf(contentBlock);

function contentFault(content: Part | null, structured: Part | null): string | null {
  if (content === null) return structured === null ? "content is missing" : null;
  const fault = contentBlocks(content.value);
  return fault === null ? null : `${placeText(["content", ...fault.path])} ${fault.reason}`;
}

function structuredFault(structured: Part | null, output: PreparedSchema | null): string | null {
  if (structured === null) {
    return output === null
      ? null
      : "structuredContent is missing, and the tool has an outputSchema";
  }
  if (!isJsonObject(structured.value)) return "structuredContent must be an object";
  if (output === null) return null;
  // Checked as it goes out, so that a client that checks it too comes to the same end.
  const value = structured.changed ? wellFormed(structured.value) : structured.value;
  const steps = new Steps(stepsFor(structured.bytes));
  const complaint = checkValue(output, value, steps, "structuredContent");
  if (complaint === null) return null;
  return complaint.type === "invalid"
    ? complaint.text
    : "structuredContent is too complex to check";
}

/** Does to the strings and keys of a value what `replaceLoneSurrogates` does to its text. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([key, held]) => [key.toWellFormed(), wellFormed(held)]));
}
