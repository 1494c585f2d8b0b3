import type { Limits } from "@relay/protocol";
import type { ToolCall } from "./host-request.ts";
import { MinuteWindow } from "./rate.ts";
import { chargeable, checkValue, stepsFor } from "./schema/check.ts";
import { Steps } from "./schema/steps.ts";
import type { Tool, Toolbox } from "./toolbox.ts";

/** Steps above the per-byte part that the checks of one link may take in a minute (SPEC 8). */
export const STEPS_PER_MINUTE = 3_000_000;

const TOO_COMPLEX = "arguments are too complex to check against the tool's inputSchema";

/** What the manifest alone says of a call (SPEC 7). `why` continues the text of `invalid_input`. */
export type Judgement =
  | { readonly type: "fits"; readonly argumentsText: string; readonly tool: Tool }
  | { readonly type: "unknown_tool" }
  | { readonly type: "invalid_input"; readonly why: string }
  | { readonly type: "rate_limited"; readonly waitSeconds: number };

type GateLimits = Pick<Limits, "metaRequestsPerMinute" | "refusedRowsPerMinute">;

/**
 * What the hosts of one link may ask of Relay before its app is involved: the windows of cheap
 * requests, of calls that are wrong in themselves, and of the work of checking arguments. Times are
 * monotonic ms.
 */
export class HostGate {
  #meta: MinuteWindow | null = null;
  #wrongCalls: MinuteWindow | null = null;
  #steps: MinuteWindow | null = null;
  #refusedRows: MinuteWindow | null = null;

  /** Counts a request that is answered at once; returns the seconds to wait, 0 when it may pass. */
  takeMeta(now: number, limits: GateLimits): number {
    this.#meta ??= new MinuteWindow();
    return this.#meta.take(now, limits.metaRequestsPerMinute);
  }

  /** Whether one more refused call of this minute leaves a row; past it only the roll-up counts. */
  keepsRefusedRow(now: number, limits: GateLimits): boolean {
    this.#refusedRows ??= new MinuteWindow();
    return this.#refusedRows.take(now, limits.refusedRowsPerMinute) === 0;
  }

  /** Judges a call by the manifest: `toolbox` is null before the first hello. */
  judge(call: ToolCall, toolbox: Toolbox | null, callsPerMinute: number, now: number): Judgement {
    const wait = this.#wrongCalls?.wait(now, callsPerMinute) ?? 0;
    if (wait > 0) return { type: "rate_limited", waitSeconds: wait };
    const tool = toolbox?.get(call.name);
    if (tool === undefined) return this.#wrong({ type: "unknown_tool" }, now);
    const given = call.arguments;
    if (!given.ok) return this.#wrong({ type: "invalid_input", why: given.fault }, now);
    const stepsWait = this.#steps?.wait(now, STEPS_PER_MINUTE) ?? 0;
    if (stepsWait > 0) return { type: "rate_limited", waitSeconds: stepsWait };
    const steps = new Steps(stepsFor(given.bytes));
    const complaint = checkValue(tool.input, given.value, steps, "arguments");
    this.#charge(chargeable(steps.used, given.bytes), now);
    if (complaint === null) return { type: "fits", argumentsText: given.text, tool };
    const why = complaint.type === "invalid" ? complaint.text : TOO_COMPLEX;
    return this.#wrong({ type: "invalid_input", why }, now);
  }

  /** Whether forgetting these windows would change nothing. */
  isIdle(now: number): boolean {
    return [this.#meta, this.#wrongCalls, this.#steps, this.#refusedRows].every(
      (window) => window?.isOver(now) !== false,
    );
  }

  #wrong(judgement: Judgement, now: number): Judgement {
    this.#wrongCalls ??= new MinuteWindow();
    this.#wrongCalls.add(now);
    return judgement;
  }

  #charge(steps: number, now: number): void {
    if (steps === 0) return;
    this.#steps ??= new MinuteWindow();
    this.#steps.add(now, steps);
  }
}
