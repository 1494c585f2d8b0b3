/** Listeners by event. One that throws disturbs nobody: its error is thrown on its own. */
export type Emitter<Events> = {
  /** Listens; returns how to stop that. */
  readonly on: <Name extends keyof Events>(
    name: Name,
    listener: (value: Events[Name]) => void,
  ) => () => void;
  readonly emit: <Name extends keyof Events>(name: Name, value: Events[Name]) => void;
};

export function emitter<Events>(): Emitter<Events> {
  type Entry = { readonly name: keyof Events; readonly listener: (value: never) => void };
  const entries = new Set<Entry>();
  return {
    on: (name, listener) => {
      const entry = { name, listener };
      entries.add(entry);
      return () => {
        entries.delete(entry);
      };
    },
    emit: (name, value) => {
      // A listener that is added by one of these has not heard what it was added for.
      for (const entry of Array.from(entries)) {
        if (entry.name !== name) continue;
        try {
          // A listener was added with the event whose values it takes.
          entry.listener(value as never);
        } catch (error) {
          queueMicrotask(() => {
            throw error;
          });
        }
      }
    },
  };
}
