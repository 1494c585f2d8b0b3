/** What must hold whatever happens, by name; the sentence is what its test promises. */
export const INVARIANTS = {
  endsOnce: "every call ends exactly once, and its row says so",
  eightInApp: "no more calls than the limit are in an app or wait for their quota",
  placesFree: "a call that is over holds no place, and one that is not over holds one",
  lostEnd: "a socket that is closed or gone takes its calls with it",
  newestOnly: "only the newest socket is sent calls, from its ready to its close",
  liveAnswers: "only the live socket that got a call can answer it",
  oldEndNothing: "the end of an old socket changes nothing",
  lateAnswerNothing: "an answer to a call that is over or unknown changes nothing",
  answerEnds: "any answer of the live socket ends its call with the words of that answer",
  cancelEnds: "a cancel ends the one call it names and no other",
  toldToStop: "the app is told to stop what was cancelled or timed out",
  inTime: "nothing outlives its deadline, but for the second that the store may take",
  streamEnds: "every opened stream ends in one answer, and nothing comes after it",
  rowFirst: "an answer waits for its row, and no longer than a second",
  refusedAtOnce: "the answer to a refused call waits for nobody",
  usedIsRows: "what is used = counted rows = the roll-ups = what the quota was told",
  unsentUncounted: "what never reached the app is never counted, what it answered always is",
  disconnectedUncounted: "a call that lost its socket is never counted",
  reservationOnce: "a reservation is spent or given back, exactly once",
  stopsCalls: "a paused, revoked or disabled link sends its app no further call",
  urlLeads: "a link's URL leads to it, and one that was rotated away leads nowhere",
  socketsCounted: "a project's open sockets are counted exactly, and what is over is forgotten",
  drained: "a drain ends every call and closes every socket in its time",
  quiet: "with a healthy store nothing is logged as a fault",
} as const satisfies Record<string, string>;

export type InvariantName = keyof typeof INVARIANTS;

/** Keeps the first case in which each invariant did not hold. */
export class Judge {
  readonly broken = new Map<InvariantName, string>();
  readonly #say: (line: () => string) => void;

  /** `say` gets a line for the transcript. */
  constructor(say: (line: () => string) => void) {
    this.#say = say;
  }

  /** Notes that `name` does not hold unless `holds`; `what` says how. */
  check(name: InvariantName, holds: boolean, what: () => string): void {
    if (holds || this.broken.has(name)) return;
    this.broken.set(name, what());
    this.#say(() => `BROKEN ${name} (${INVARIANTS[name]}): ${what()}`);
  }
}
