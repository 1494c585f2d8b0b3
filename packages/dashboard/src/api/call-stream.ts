import { apiUrl, failureOf } from "./client.ts";

/** One event of a stream that is the answer to a POST, which `EventSource` can't read. */
export type StreamEvent = { readonly name: string; readonly data: string };

/**
 * POSTs a JSON text and yields the events of the answer as they come. Ends with the stream; aborting
 * `signal` closes it. Throws an `ApiFailure` if Relay refuses.
 */
export async function* postForEvents(
  path: string,
  body: string,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const response = await fetch(apiUrl(path), {
    method: "POST",
    credentials: "same-origin",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body,
    signal,
  });
  if (!response.ok) throw await failureOf(response);
  if (response.body === null) return;
  const text = response.body.pipeThrough(new TextDecoderStream());
  let rest = "";
  for await (const chunk of chunksOf(text)) {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = readBlock(block);
      if (event !== null) yield event;
    }
  }
}

/** A stream's chunks, in browsers whose streams are not iterable too. */
async function* chunksOf(stream: ReadableStream<string>): AsyncGenerator<string> {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Null for a comment, which keeps the connection open and says nothing. */
function readBlock(block: string): StreamEvent | null {
  let name = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice("event: ".length);
    else if (line.startsWith("data: ")) data.push(line.slice("data: ".length));
  }
  return data.length === 0 ? null : { name, data: data.join("\n") };
}
