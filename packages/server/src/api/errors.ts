import { REST_ERRORS } from "@relay/protocol";
import type { RequestId, RestErrorCode } from "@relay/protocol";

/** An expected refusal of a REST request; turned into the spec's shape once, at the edge. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: RestErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: RestErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return REST_ERRORS[this.code].status;
  }
}

/** The body of every REST error (SPEC 4). */
export function errorBody(code: RestErrorCode, message: string, requestId: RequestId): string {
  return JSON.stringify({ error: { code, message, requestId } });
}

export function rateLimited(waitSeconds: number): ApiError {
  return new ApiError("RATE_LIMITED", `Too many requests; try again in ${waitSeconds} s`, {
    "Retry-After": String(waitSeconds),
  });
}

export function notFound(what: string): ApiError {
  return new ApiError("NOT_FOUND", `No such ${what}`);
}
