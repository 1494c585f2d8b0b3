import type { CallCells } from "./call-cells.ts";
import type { Failure } from "./failure.ts";
import type { Write } from "./writes.ts";

/** `full`: every commit waits for the disk; `normal`: those of call rows alone do not (SPEC 11). */
export type Durability = "normal" | "full";

export type WriterSettings = { readonly path: string; readonly durability: Durability };

export type ToWriter =
  | { readonly type: "group"; readonly writes: readonly Write[] }
  /** A group of nothing but calls, as nearly all are. */
  | { readonly type: "calls"; readonly cells: CallCells }
  | { readonly type: "close" };

/** How one write ended; the result is that of its verb. */
export type Outcome = { readonly result: unknown } | { readonly failure: Failure };

/**
 * The end of a group: outcomes in the order of its writes, null where each is done and none has a
 * result; whether the disk has it for certain.
 */
export type GroupDone = {
  readonly type: "done";
  readonly synced: boolean;
  readonly outcomes: readonly Outcome[] | null;
};

export type FromWriter =
  | { readonly type: "opened" }
  | { readonly type: "failed"; readonly failure: Failure }
  | { readonly type: "synced" }
  | GroupDone;
