import { RelayError } from "./relay-error.ts";

/** What an app keeps of its link, from one start to the next. Both are credentials. */
export type LinkRecord = {
  /** The app's credential; it goes into `hello` and nowhere else. */
  readonly linkToken: string;
  /** The host's credential: what the person pastes into their AI host. */
  readonly mcpUrl: string;
  readonly linkId: string;
};

/** Where an app keeps its link. A `load` that fails must throw: null means that there is none. */
export type LinkStore = {
  /**
   * The record's name among the tabs of one browser, if tabs share it: then one of them connects
   * and the others stand by.
   */
  readonly name?: string;
  readonly load: () => LinkRecord | null | Promise<LinkRecord | null>;
  /** Keeps the record in place of any other. */
  readonly save: (record: LinkRecord) => void | Promise<void>;
  /**
   * Keeps the record unless one is there already; returns the one that is kept. For stores that
   * several copies of an app share: all of them end up with one link.
   */
  readonly add?: (record: LinkRecord) => LinkRecord | Promise<LinkRecord>;
  /** Calls back when another copy of the app has changed the record; returns how to end that. */
  readonly watch?: (onChange: () => void) => () => void;
};

/** A store that lasts as long as the process: for tests, and apps that keep the link elsewhere. */
export function memoryStore(record: LinkRecord | null = null): LinkStore {
  let kept = record;
  return {
    load: () => kept,
    save: (next) => {
      kept = next;
    },
  };
}

/** Reads a record from its JSON; null stays null. Throws when it is no record. */
export function parseLinkRecord(text: string | null): LinkRecord | null {
  if (text === null) return null;
  // Written by `save` of the same store, unless somebody else was there.
  const record = JSON.parse(text) as Partial<LinkRecord> | null;
  const { linkToken, mcpUrl, linkId = "" } = record ?? {};
  if (linkToken && mcpUrl) return { linkToken, mcpUrl, linkId };
  throw new RelayError("STORE", "no link is stored there");
}
