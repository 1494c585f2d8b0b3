import { z } from "@hono/zod-openapi";
import { CLOSE_CODES, OUTCOME_NAMES } from "@relay/protocol";
import type { CloseCode, Outcome } from "@relay/protocol";
import { readJson } from "../core/json.ts";
import type { Fault } from "../relay/refusals.ts";
import type { ProjectStart } from "../store/store.ts";
import { Time, isoTime } from "./shapes.ts";

const FaultShape = z.object({
  what: z.enum(["hello", "origin"]),
  at: Time,
  text: z.string(),
  fix: z.string().optional(),
  /** What to add to the allowed origins. */
  origin: z.string().optional(),
  closeCode: z.int(),
});

/** A project's steps to its first call, as they are shown. */
export const Checklist = z.object({
  linkCreated: z.boolean(),
  socketReady: z.boolean(),
  tools: z.array(z.string()),
  firstHost: z.object({ name: z.string(), version: z.string() }).nullable(),
  firstCall: z
    .object({ outcome: z.enum(OUTCOME_NAMES as [Outcome, ...Outcome[]]), at: Time })
    .nullable(),
  lastFault: FaultShape.nullable(),
});

export type ChecklistView = z.output<typeof Checklist>;

/** The checklist of a project that has come so far, and what stood in its way last. */
export function checklistView(start: ProjectStart, fault: Fault | null): ChecklistView {
  const { linkCreated, socketReady, toolsText, firstHost, firstCall } = start;
  return {
    linkCreated,
    socketReady,
    tools: toolsText === null ? [] : toolNames(toolsText),
    firstHost,
    firstCall: firstCall === null ? null : { ...firstCall, at: isoTime(firstCall.at) },
    lastFault: fault === null ? null : faultView(fault),
  };
}

/** Whether no step is open any more: a call that came back had a host, named or not. */
export function isComplete({ linkCreated, socketReady, tools, firstCall }: ChecklistView): boolean {
  return linkCreated && socketReady && tools.length > 0 && firstCall?.outcome === "ok";
}

/** The names in a `tools` array that was judged when it came. */
function toolNames(toolsText: string): string[] {
  const reading = readJson(toolsText);
  if (!reading.ok || !Array.isArray(reading.value)) return [];
  return reading.value.flatMap((tool: unknown) =>
    typeof tool === "object" && tool !== null && "name" in tool ? [String(tool.name)] : [],
  );
}

function faultView(fault: Fault): z.output<typeof FaultShape> {
  const at = isoTime(fault.at);
  if (fault.what === "origin") {
    const { origin } = fault;
    return {
      what: "origin",
      at,
      text: `Requests from ${origin} were refused: the project does not allow this origin.`,
      fix: `Add ${origin} to the allowed origins.`,
      origin,
      closeCode: 4403,
    };
  }
  const { code, text } = fault;
  const fix = FIXES[code];
  return {
    what: "hello",
    at,
    text: `An app could not connect: ${text ?? CLOSE_CODES[code].reason}.`,
    ...(fix === undefined ? {} : { fix }),
    closeCode: code,
  };
}

const FIXES: Readonly<Partial<Record<CloseCode, string>>> = {
  4400: "Mend what the text names in the app's hello, then connect again.",
  4401: "The link was revoked or removed while its app connected. Let the app create a new link.",
  4423: "Start the project again; if the operator suspended it, ask them.",
  4429: "Let the app wait longer between its attempts, and open one socket for each link.",
};
