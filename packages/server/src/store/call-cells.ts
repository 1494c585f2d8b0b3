import type { CallWrite } from "./call-writes.ts";
import type { Write } from "./writes.ts";

/** What one call takes of the list. */
const CELLS = 16;

/**
 * Calls on their way to the writer thread, as one flat list of numbers, texts and nulls: to clone
 * that costs a fraction of what objects cost, at thousands of calls a second.
 */
export type CallCells = readonly unknown[];

export function isCall(write: Write): write is Write<"recordCall"> {
  return write.verb === "recordCall";
}

/** Lays the calls out one behind the other. */
export function cellsOf(writes: readonly CallWrite[]): CallCells {
  const cells: unknown[] = [];
  for (const [call, rollUpOnly, segmentId] of writes) {
    cells.push(
      call.callId,
      call.projectId,
      call.linkId,
      call.tool,
      call.toolKnown,
      call.client?.name ?? null,
      call.client?.version ?? null,
      call.outcome,
      call.counted,
      call.startedAt,
      call.durationMs,
      call.requestBytes,
      call.resultBytes,
      call.requestId,
      rollUpOnly,
      segmentId ?? null,
    );
  }
  return cells;
}

/** Reads what `cellsOf` wrote. */
export function callsOf(cells: CallCells): CallWrite[] {
  const writes: CallWrite[] = [];
  for (let at = 0; at < cells.length; at += CELLS) writes.push(callAt(cells, at));
  return writes;
}

type Row = CallWrite[0];

type OneCall = readonly [
  callId: Row["callId"],
  projectId: Row["projectId"],
  linkId: Row["linkId"],
  tool: string,
  toolKnown: boolean,
  clientName: string | null,
  clientVersion: string | null,
  outcome: Row["outcome"],
  counted: boolean,
  startedAt: number,
  durationMs: number,
  requestBytes: number,
  resultBytes: number,
  requestId: Row["requestId"],
  rollUpOnly: boolean,
  segmentId: NonNullable<CallWrite[2]> | null,
];

function callAt(cells: CallCells, at: number): CallWrite {
  // Both ends are this file's: each cell has the type of the field that was put there.
  const [callId, projectId, linkId, tool, toolKnown, clientName, clientVersion, ...rest] =
    cells.slice(at, at + CELLS) as unknown as OneCall;
  const [outcome, counted, startedAt, durationMs, requestBytes, resultBytes, requestId] = rest;
  const [, , , , , , , rollUpOnly, segmentId] = rest;
  const client = clientName === null ? null : { name: clientName, version: clientVersion ?? "" };
  const call: Row = {
    callId,
    projectId,
    linkId,
    tool,
    toolKnown,
    client,
    outcome,
    counted,
    startedAt,
    durationMs,
    requestBytes,
    resultBytes,
    requestId,
  };
  return [call, rollUpOnly, segmentId];
}
