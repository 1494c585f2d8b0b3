import type { RelayFrame } from "@relay/protocol";
import { attempt } from "./attempt.ts";
import { progressReporter } from "./progress-reporter.ts";
import { RelayError, messageOf } from "./relay-error.ts";
import type { Runtime } from "./runtime.ts";
import type { Tool, ToolDefinition } from "./tool.ts";
import { resultText } from "./tool-result.ts";

type CallFrame = Extract<RelayFrame, { type: "call" }>;
type CallLimits = Extract<RelayFrame, { type: "ready" }>["limits"];

/** A call, told each time its status changes. */
export type CallEvent = {
  readonly id: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly status: CallStatus;
  /** What the model was told instead of a result, for `failed` and `denied`. */
  readonly message?: string;
};

/**
 * `cancelled`: the host cancelled the call, or the deadline passed. `lost`: the connection was lost
 * under it. Nobody gets the answer to either.
 */
export type CallStatus = "asking" | "running" | "done" | "failed" | "denied" | "cancelled" | "lost";

/** What the person or a policy says to a call before its tool runs: only `true` lets it run. */
export type Verdict = boolean | { readonly deny: string };

export type BeforeRun = (call: {
  readonly tool: ToolDefinition;
  readonly arguments: unknown;
  /** Aborts when there is no more use in asking: cancelled, connection lost, time is up. */
  readonly signal: AbortSignal;
  /** When the call is denied by itself, in ms since the epoch by this device's clock. */
  readonly deadline: number;
}) => Verdict | Promise<Verdict>;

/** A call is denied this long before Relay gives up on it, so that the host still hears why. */
const DENIED_BEFORE_MS = 10_000;
const ERROR_CHARS_MAX = 10_000;

/** Runs the calls of one link, each to one answer, and keeps nothing once its socket is gone. */
export type CallRunner = {
  /** Runs a call and sends its answer, if it is still wanted by then. Never rejects. */
  readonly run: (
    frame: CallFrame,
    tool: Tool | undefined,
    limits: CallLimits,
    /** Drops the frame when the socket that the call came by is gone. */
    send: (frameText: string) => void,
  ) => Promise<void>;
  /** The host wants no answer to the call any more. */
  readonly cancel: (id: string) => void;
  /** The socket is gone, and with it whoever waited for an answer. */
  readonly loseAll: () => void;
};

/** `onChange` hears of every change of a call, and how many run then. */
export function callRunner(
  { after, wall }: Pick<Runtime, "after" | "wall">,
  beforeRun: BeforeRun | undefined,
  onChange: (event: CallEvent, running: number) => void,
): CallRunner {
  const running = new Map<string, (status: CallStatus) => void>();

  const run: CallRunner["run"] = async (frame, tool, limits, send) => {
    const { id, tool: name, arguments: args } = frame;
    const ended = new AbortController();
    const { signal } = ended;
    const progress = progressReporter(id, after, send);
    const tell = (status: CallStatus, message?: string): void =>
      onChange(
        { id, tool: name, arguments: args, status, ...(message && { message }) },
        running.size,
      );
    running.set(id, (status) => {
      running.delete(id);
      progress.end();
      ended.abort(new RelayError(status.toUpperCase(), `The call was ${status}.`));
      tell(status);
    });
    // By this device's clock from when the call came: the clock may differ from Relay's by days.
    const timeoutMs = limits.callTimeoutSeconds * 1000;
    const deadline = wall() + timeoutMs;
    let answer: string;
    let outcome: Parameters<typeof tell> = ["done"];
    try {
      if (!tool) throw new Error(`Unknown tool: ${name}`);
      const input = await tool.readArguments(args);
      if (beforeRun && !signal.aborted) {
        tell("asking");
        const waitMs = timeoutMs - Math.min(DENIED_BEFORE_MS, timeoutMs / 2);
        const call = { tool: tool.definition, arguments: input, deadline: wall() + waitMs };
        await ask(beforeRun, call, signal, (stop) => after(waitMs, stop));
      }
      // Nobody wants the answer any more.
      if (signal.aborted) return;
      tell("running");
      const value = await tool.run(input, { signal, deadline, progress: progress.report });
      const members = await resultText(value, tool.readResult, limits.resultMaxBytes);
      answer = `{"type":"result","id":${JSON.stringify(id)},${members}}`;
    } catch (error) {
      const message = messageOf(error).slice(0, ERROR_CHARS_MAX);
      answer = JSON.stringify({ type: "error", id, message });
      // Anything can be thrown; only `ask` throws this.
      const { code } = Object(error) as Partial<RelayError>;
      outcome = [code === "DENIED" ? "denied" : "failed", message];
    }
    progress.end();
    if (signal.aborted) return;
    running.delete(id);
    send(answer);
    tell(...outcome);
  };

  return {
    run,
    cancel: (id) => running.get(id)?.("cancelled"),
    loseAll: () => {
      for (const end of running.values()) end("lost");
    },
  };
}

/** Resolves when the call may run; rejects when it may not, or when nobody said so in time. */
async function ask(
  beforeRun: BeforeRun,
  call: Omit<Parameters<BeforeRun>[0], "signal">,
  ended: AbortSignal,
  afterWait: (stop: () => void) => () => void,
): Promise<void> {
  const asking = new AbortController();
  const { signal } = asking;
  const { name } = call.tool;
  const stop = (): void => asking.abort();
  const cancelTimer = afterWait(stop);
  ended.addEventListener("abort", stop);
  const stopped = new Promise<Verdict>((resolve) =>
    signal.addEventListener("abort", () =>
      resolve({ deny: `The person did not allow ${name} to run in time.` }),
    ),
  );
  const said = attempt(() => beforeRun({ ...call, signal }));
  const verdict = await Promise.race([stopped, said]).finally(cancelTimer);
  if (verdict === true) return;
  const { deny = `The person did not allow ${name} to run.` } = verdict || {};
  throw new RelayError("DENIED", deny);
}
