import type { Outcome } from "@relay/protocol";
import { useEffect, useRef, useState } from "react";
import { postForEvents } from "../../api/call-stream.ts";

export type Frame = {
  readonly at: string;
  readonly direction: "to_app" | "from_app";
  readonly text: string;
};

export type Ending = {
  readonly outcome: Outcome;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
  readonly durationMs: number;
  readonly callId: string | null;
};

export type TryState =
  | { readonly type: "idle" }
  | { readonly type: "running"; readonly frames: readonly Frame[] }
  | { readonly type: "cancelled"; readonly frames: readonly Frame[] }
  | { readonly type: "ended"; readonly frames: readonly Frame[]; readonly ending: Ending }
  | { readonly type: "refused"; readonly failure: Error };

const FRAMES_MAX = 500;

/** One call at a time on a trial link; leaving the page cancels it. */
export function useTry(projectId: string, linkId: string) {
  const [state, setState] = useState<TryState>({ type: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const call = async (tool: string, argumentsText: string): Promise<void> => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    let frames: readonly Frame[] = [];
    setState({ type: "running", frames });
    const path = `projects/${projectId}/links/${linkId}/try`;
    // The arguments go out as they were typed, not as JavaScript would write them.
    const body = `{"tool":${JSON.stringify(tool)},"arguments":${argumentsText}}`;
    try {
      for await (const { name, data } of postForEvents(path, body, controller.signal)) {
        if (name === "frame" && frames.length < FRAMES_MAX) {
          // Relay's own events, in the shapes its description promises.
          frames = [...frames, JSON.parse(data) as Frame];
          setState({ type: "running", frames });
        } else if (name === "outcome") {
          setState({ type: "ended", frames, ending: JSON.parse(data) as Ending });
          return;
        }
      }
      throw new Error("Relay ended the stream before the call was over.");
    } catch (error) {
      if (running.current !== controller) return;
      if (controller.signal.aborted) setState({ type: "cancelled", frames });
      else
        setState({
          type: "refused",
          failure: error instanceof Error ? error : new Error(String(error)),
        });
    }
  };
  return {
    state,
    start: (tool: string, argumentsText: string) => void call(tool, argumentsText),
    cancel: () => running.current?.abort(),
  };
}
