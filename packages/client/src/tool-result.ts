import { bytesOf } from "./bytes-of.ts";

type Meta = {
  readonly annotations?: object;
  readonly _meta?: Readonly<Record<string, unknown>>;
};

/** A block of a tool's result, as MCP has it. */
export type ContentBlock = Meta &
  (
    | { readonly type: "text"; readonly text: string }
    /** `data` is base64. */
    | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
    | {
        readonly type: "resource_link";
        readonly uri: string;
        readonly name: string;
        readonly title?: string;
        readonly description?: string;
        readonly mimeType?: string;
        readonly size?: number;
      }
    | {
        readonly type: "resource";
        readonly resource: { readonly uri: string; readonly mimeType?: string } & (
          | { readonly text: string }
          | { readonly blob: string }
        );
      }
  );

/** A whole MCP tool result, for handlers that want to say everything themselves. */
export type ToolResult = {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
};

/**
 * Makes what a handler returned into the members of a `result` frame. A string becomes a text block;
 * an object becomes `structuredContent` and, for hosts that read only text, its JSON as a text block;
 * blocks and whole results pass. Throws what to tell the model when it can't be sent.
 */
export async function resultText(
  value: unknown,
  readResult: (value: unknown) => unknown,
  bytesMax: number,
): Promise<string> {
  const { content, structuredContent, isError = false } = asResult(value);
  const structured =
    structuredContent === undefined || isError
      ? structuredContent
      : await readResult(structuredContent);
  const structuredText = JSON.stringify(structured) ?? "";
  const bytesLeft = bytesMax - bytesOf(structuredText);
  // The text of an object is there for convenience: twice the same may be too much.
  const blocks = content ?? [{ type: "text", text: structuredText }];
  let contentText = JSON.stringify(blocks);
  if (content === undefined && bytesOf(contentText) > bytesLeft) contentText = "[]";
  const bytesOver = bytesOf(contentText) - bytesLeft;
  if (bytesOver > 0) {
    // Relay would refuse it in these words; over 256 KiB it would drop the whole connection.
    throw new Error(
      `content and structuredContent together must be at most ${bytesMax} bytes as JSON, not ${bytesMax + bytesOver}`,
    );
  }
  const more = structuredText && `,"structuredContent":${structuredText}`;
  return `"content":${contentText}${more},"isError":${isError}`;
}

type Parts = {
  readonly content?: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
};

function asResult(value: unknown): Parts {
  if (Array.isArray(value) && value.every(isBlock)) return { content: value };
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    // An app's own object may have a field `content` too: a result has no others but these.
    const isResult =
      "content" in value &&
      Array.isArray(value.content) &&
      value.content.every(isBlock) &&
      Object.keys(value).every((key) => /^(content|structuredContent|isError)$/.test(key));
    // Its fields are those of a result.
    return isResult ? (value as Parts) : { structuredContent: value };
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return { content: text ? [{ type: "text", text }] : [] };
}

function isBlock(value: unknown): boolean {
  const { type } = Object(value) as { readonly type?: unknown };
  return /^(text|image|audio|resource(_link)?)$/.test(String(type));
}
