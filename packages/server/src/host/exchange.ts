import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestId } from "@relay/protocol";
import type { RequestTrace } from "../observe/trace.ts";

/** One HTTP exchange, as the edge hands it over. */
export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: RequestId;
  /** The client's address; IPv6 as its /64. */
  readonly ip: string;
  /** The template of the route that answers, for metrics and traces; whoever answers sets it. */
  route: string;
  readonly trace: RequestTrace | null;
};
