import { TOOL_ERROR_TEXTS } from "@relay/protocol";
import type { AppFrame, Outcome } from "@relay/protocol";
import { bytesOf } from "../bytes-of.ts";
import type { ContentBlock } from "../tool-result.ts";

/** What a host gets for a call, and how Relay would book it. */
export type FakeAnswer = {
  readonly outcome: Outcome;
  readonly isError: boolean;
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  /** The text blocks of `content`, joined. */
  readonly text: string;
};

export type FakeCallOptions = {
  /** Cancels the call, as a host does that closes its stream. */
  readonly signal?: AbortSignal;
  /** Hears the app's progress. */
  readonly onProgress?: (progress: { progress: number; total?: number; message?: string }) => void;
};

/** A call that waits for its app. */
export type LiveFakeCall = {
  readonly end: (answer: FakeAnswer) => void;
  readonly onProgress: FakeCallOptions["onProgress"];
  readonly hasOutput: boolean;
  lastProgress: number;
};

/** An answer that is one sentence. */
export function sentence(outcome: Outcome, text: string, isError = true): FakeAnswer {
  return { outcome, isError, content: [{ type: "text", text }], text };
}

type AnswerFrame = Extract<AppFrame, { type: "result" | "error" }>;

/**
 * Judges an app's answer by the rules for results that a test of an app meets: sizes, types, and an
 * `outputSchema` that went unanswered. It knows no JSON Schema and no shapes of content blocks.
 */
export function answerOf(
  frame: AnswerFrame,
  hasOutput: boolean,
  bytesMax: number,
): { readonly answer: FakeAnswer; readonly fault: string | null } {
  if (frame.type === "error") {
    return typeof frame.message === "string"
      ? { answer: sentence("tool_error", frame.message), fault: null }
      : unacceptable("message must be a string");
  }
  const { content, structuredContent, isError = false } = frame;
  const fault = resultFault(frame, hasOutput, bytesMax);
  if (fault !== null) return unacceptable(fault);
  // `resultFault` has looked at each of them.
  const blocks = (content ?? []) as readonly ContentBlock[];
  const structured = structuredContent as FakeAnswer["structuredContent"];
  const answer = {
    outcome: "ok",
    isError: isError === true,
    content: blocks,
    ...(structured === undefined || isError === true ? {} : { structuredContent: structured }),
    text: blocks.map((block) => (block.type === "text" ? block.text : "")).join(""),
  } as const;
  return { answer, fault: null };
}

function resultFault(
  { content, structuredContent, isError }: Extract<AnswerFrame, { type: "result" }>,
  hasOutput: boolean,
  bytesMax: number,
): string | null {
  const bytes = [content, structuredContent]
    .map((part) => (part === undefined ? 0 : bytesOf(JSON.stringify(part))))
    .reduce((sum, size) => sum + size, 0);
  if (bytes > bytesMax) {
    return `content and structuredContent together must be at most ${bytesMax} bytes as JSON, not ${bytes}`;
  }
  if (isError !== undefined && typeof isError !== "boolean") return "isError must be a boolean";
  if (content === undefined && structuredContent === undefined) return "content is missing";
  if (content !== undefined && !Array.isArray(content)) return "content must be an array";
  if (structuredContent === undefined) {
    return hasOutput && isError !== true
      ? "structuredContent is missing, and the tool has an outputSchema"
      : null;
  }
  const isObject =
    typeof structuredContent === "object" &&
    structuredContent !== null &&
    !Array.isArray(structuredContent);
  return isObject ? null : "structuredContent must be an object";
}

function unacceptable(fault: string): { readonly answer: FakeAnswer; readonly fault: string } {
  return { answer: sentence("tool_error", TOOL_ERROR_TEXTS.unacceptable(fault)), fault };
}
