import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";

export type Body =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "too_large" }
  | { readonly type: "not_utf8" }
  /** The request was cut off. */
  | { readonly type: "aborted" };

/** Reads a request's body of at most `bytesMax` bytes, counting them as they come. */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Body> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > bytesMax) return Promise.resolve({ type: "too_large" });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bytesMax) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      request.pause();
      resolve({ type: "too_large" });
    });
    request.on("end", () => resolve(decode(chunks)));
    request.on("error", () => resolve({ type: "aborted" }));
    request.on("close", () => resolve({ type: "aborted" }));
  });
}

function decode(chunks: readonly Buffer[]): Body {
  const [only] = chunks;
  const whole = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
  return isUtf8(whole) ? { type: "text", text: whole.toString("utf8") } : { type: "not_utf8" };
}
