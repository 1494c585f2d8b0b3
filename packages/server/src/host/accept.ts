/** Which kinds of answer a host can take. */
export type Accepted = { readonly json: boolean; readonly stream: boolean };

/**
 * Reads an `Accept` header. Relay never answers 406: a header that takes neither kind, or none at
 * all, is read as taking both (SPEC 6).
 */
export function readAccept(header: string | undefined): Accepted {
  if (header === undefined || header === "") return BOTH;
  const known = readBefore.get(header);
  if (known !== undefined) return known;
  const accepted = read(header);
  if (header.length <= KEPT_CHARACTERS_MAX && readBefore.size < KEPT_MAX) {
    readBefore.set(header, accepted);
  }
  return accepted;
}

/** Hosts send one of a few headers with every request, so that each is read once. */
const readBefore = new Map<string, Accepted>();
const KEPT_MAX = 256;
const KEPT_CHARACTERS_MAX = 256;

function read(header: string): Accepted {
  let json = false;
  let stream = false;
  for (const range of header.toLowerCase().split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    if (parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) continue;
    if (type === "*/*") return BOTH;
    json ||= type === "application/json" || type === "application/*";
    stream ||= type === "text/event-stream" || type === "text/*";
  }
  return json || stream ? { json, stream } : BOTH;
}

const BOTH: Accepted = { json: true, stream: true };
