import { createContext, use, useState } from "react";
import type { ReactNode } from "react";
import { ApiFailure } from "./client.ts";

/** Asks for the password again; resolves with whether it was given. */
export type AskAgain = () => Promise<boolean>;
export const AskAgainContext = createContext<AskAgain>(async () => false);

export function AskAgainProvider({
  ask,
  children,
}: {
  readonly ask: AskAgain;
  readonly children: ReactNode;
}) {
  return <AskAgainContext value={ask}>{children}</AskAgainContext>;
}

/** Whether Relay wants the password again before it does this. */
export function wantsPassword(error: unknown): boolean {
  return error instanceof ApiFailure && error.code === "REAUTHENTICATION_NEEDED";
}

export type Action<Input extends readonly unknown[]> = {
  readonly run: (...input: Input) => void;
  readonly busy: boolean;
  readonly failure: Error | null;
  readonly reset: () => void;
};

/**
 * Something that changes things: runs once at a time, keeps what went wrong, and where Relay wants
 * the password again, asks for it and goes on.
 */
export function useAction<Input extends readonly unknown[], Result>(
  act: (...input: Input) => Promise<Result>,
  onDone?: (result: Result) => void,
): Action<Input> {
  const ask = use(AskAgainContext);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Error | null>(null);
  const attempt = async (input: Input): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      // By itself: `onDone?.(…)` would not even act where there is no `onDone`.
      const result = await withPassword(() => act(...input), ask);
      onDone?.(result);
    } catch (error) {
      setFailure(error instanceof Error ? error : new Error(String(error)));
    } finally {
      setBusy(false);
    }
  };
  return {
    run: (...input) => {
      if (!busy) void attempt(input);
    },
    busy,
    failure,
    reset: () => setFailure(null),
  };
}

async function withPassword<Result>(act: () => Promise<Result>, ask: AskAgain): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!wantsPassword(error) || !(await ask())) throw error;
    return act();
  }
}
