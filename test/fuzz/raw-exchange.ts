import { connect } from "node:net";

/** One answer as it came; `isWhole` where its end was seen. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly isWhole: boolean;
};

export type RawExchange = {
  readonly answers: readonly RawAnswer[];
  /** Whether this side gave up first. */
  readonly gaveUp: boolean;
};

/** A connection that says nothing for so long is ended from this side. */
const QUIET_MS = 40;
/** And then the other side has to end it as well. */
const PATIENCE_MS = 15_000;

/**
 * Sends `text` (latin1) on a connection of its own and reads what comes until it is over. Gives up on
 * a quiet connection unless `isPatient`. Throws where Relay neither answers nor ends it.
 */
export function exchange(
  port: number,
  text: string,
  { isPatient, isHead }: { isPatient: boolean; isHead: boolean },
): Promise<RawExchange> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const chunks: Buffer[] = [];
    let gaveUp = false;
    let quiet: NodeJS.Timeout | undefined;
    const late = setTimeout(() => {
      socket.destroy();
      reject(new Error("the connection was neither answered nor ended"));
    }, PATIENCE_MS);
    const listen = (): void => {
      clearTimeout(quiet);
      if (isPatient && chunks.length === 0) return;
      quiet = setTimeout(() => {
        gaveUp = true;
        socket.end();
      }, QUIET_MS);
    };
    // A reset is one of the ways in which a connection ends.
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      listen();
    });
    socket.on("close", () => {
      clearTimeout(late);
      clearTimeout(quiet);
      const answers = readAnswers(Buffer.concat(chunks).toString("latin1"), isHead);
      if (typeof answers === "string") reject(new Error(`no HTTP came back: ${answers}`));
      else resolve({ answers, gaveUp });
    });
    socket.write(text, "latin1");
    listen();
  });
}

/** Reads one answer after the other; returns what can't be one as text. */
function readAnswers(text: string, isHead: boolean): RawAnswer[] | string {
  const answers: RawAnswer[] = [];
  let rest = text;
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n");
    const head = end === -1 ? rest : rest.slice(0, end);
    const [line = "", ...lines] = head.split("\r\n");
    const status = /^HTTP\/1\.1 (\d{3}) ?[^\r\n]*$/.exec(line)?.[1];
    if (status === undefined) return rest.slice(0, 300);
    const headers = new Map(
      lines.map((each): [string, string] => {
        const colon = each.indexOf(":");
        return [each.slice(0, colon).toLowerCase(), each.slice(colon + 1).trim()];
      }),
    );
    const after = end === -1 ? "" : rest.slice(end + 4);
    const hasBody = !isHead && !["100", "101", "204", "304"].includes(status);
    const [body, length, isWhole] = hasBody ? readBody(after, headers) : ["", 0, end !== -1];
    answers.push({ status: Number(status), headers, body, isWhole });
    // What follows an upgrade is no HTTP, and a HEAD among others hides where bodies begin.
    if (status === "101" || isHead) break;
    rest = after.slice(length);
  }
  return answers;
}

function readBody(
  text: string,
  headers: ReadonlyMap<string, string>,
): [body: string, length: number, isWhole: boolean] {
  const declared = headers.get("content-length");
  if (declared !== undefined) {
    const length = Number(declared);
    return [text.slice(0, length), length, text.length >= length];
  }
  if (headers.get("transfer-encoding") !== "chunked") return [text, text.length, true];
  let body = "";
  let at = 0;
  for (;;) {
    const end = text.indexOf("\r\n", at);
    if (end === -1) return [body, text.length, false];
    const length = Number.parseInt(text.slice(at, end), 16);
    body += text.slice(end + 2, end + 2 + length);
    at = end + 2 + length + 2;
    if (length === 0) return [body, at, text.length >= at];
    if (!(length > 0) || at > text.length) return [body, text.length, false];
  }
}
