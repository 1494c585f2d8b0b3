import { BASE_PATH } from "../base-path.ts";

const PATIENCE_MS = 30_000;

/** A request that was refused or did not arrive; `message` is a sentence for the person. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  /** The HTTP status; 0 when no answer came. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;

  constructor(status: number, code: string, message: string, requestId: string | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** The address of an operation: `me` → `/api/me`, under whatever prefix Relay has. */
export function apiUrl(path: string): string {
  return `${BASE_PATH}api/${path}`;
}

/** Asks Relay; resolves with the answer's JSON. Throws an `ApiFailure`, after 30 s at the latest. */
export async function request<Answer>(
  method: Method,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Answer> {
  const response = await send(method, path, body, signal);
  if (!response.ok) throw await failureOf(response);
  const text = await response.text();
  // Relay's own answer, in the shape its description promises.
  return (text === "" ? null : JSON.parse(text)) as Answer;
}

async function send(
  method: Method,
  path: string,
  body: unknown,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const deadline = AbortSignal.timeout(PATIENCE_MS);
  try {
    return await fetch(apiUrl(path), {
      method,
      credentials: "same-origin",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiFailure(0, "UNREACHABLE", "Relay does not answer. Is it running?", null);
  }
}

/** Reads Relay's own shape of an error, or the one of its sign-in routes. */
export async function failureOf(response: Response): Promise<ApiFailure> {
  const requestId = response.headers.get("X-Request-Id");
  const body: unknown = await response.json().catch(() => null);
  const { error = body } = fieldsOf(body);
  const { code, message } = fieldsOf(error);
  return new ApiFailure(
    response.status,
    typeof code === "string" ? code : `HTTP_${response.status}`,
    sentenceOf(typeof message === "string" ? message : "", response.status),
    requestId,
  );
}

/** In place of what the sign-in says in words of its own. */
const OUR_WORDS: ReadonlyMap<string, string> = new Map([
  ["Invalid email or password", "The e-mail address or the password is wrong."],
  ["Invalid password", "The password is wrong."],
  ["Invalid code", "The code is wrong, or it is over. Wait for the next one."],
  ["Invalid backup code", "This is none of your backup codes, or it was used."],
]);

function sentenceOf(message: string, status: number): string {
  if (message !== "") return OUR_WORDS.get(message) ?? message;
  if (status === 429) return "Too many tries. Wait a minute, then try again.";
  return status >= 500 ? "Something went wrong on Relay's side." : "Relay refused this.";
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** A query string of the values that are there: `?a=1&b=x`, or nothing. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
