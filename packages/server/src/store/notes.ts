import type { KeyId, LinkId } from "@relay/protocol";
import type { ClientSeen } from "./link-writes.ts";
import type { KeyUse } from "./project-writes.ts";
import type { Client } from "./store.ts";

/** Notes are written within this time. */
const FLUSH_AFTER_MS = 1_000;
/** Keys and links that one flush may name; what comes on top is let go. */
const NOTES_MAX = 10_000;
/** Notes in one write. */
const CHUNK = 250;

/** Writes the notes that a flush collected; both may be late, and a failure loses them. */
export type NoteWriter = {
  readonly keyUses: (uses: readonly KeyUse[]) => Promise<void>;
  readonly clients: (seen: readonly ClientSeen[]) => Promise<void>;
};

/** What may be written late and merged: the last use of a key, the last client of a link. */
export class Notes {
  readonly #writer: NoteWriter;
  #keys = new Map<KeyId, KeyUse>();
  #links = new Map<LinkId, ClientSeen>();
  #timer: NodeJS.Timeout | null = null;
  #lost = 0;

  constructor(writer: NoteWriter) {
    this.#writer = writer;
  }

  /** Notes that were let go or whose write failed. */
  get lost(): number {
    return this.#lost;
  }

  keyUsed(keyId: KeyId, at: number): void {
    if (this.#keys.size >= NOTES_MAX && !this.#keys.has(keyId)) this.#lost += 1;
    else this.#keys.set(keyId, { keyId, at: Math.max(at, this.#keys.get(keyId)?.at ?? 0) });
    this.#schedule();
  }

  client(linkId: LinkId, client: Client): void {
    if (this.#links.size >= NOTES_MAX && !this.#links.has(linkId)) this.#lost += 1;
    else this.#links.set(linkId, { linkId, client });
    this.#schedule();
  }

  /** Writes everything noted so far; never rejects. */
  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const keys = [...this.#keys.values()];
    const links = [...this.#links.values()];
    this.#keys = new Map();
    this.#links = new Map();
    await Promise.all([
      ...chunks(keys).map((uses) => this.#tryWrite(uses.length, this.#writer.keyUses(uses))),
      ...chunks(links).map((seen) => this.#tryWrite(seen.length, this.#writer.clients(seen))),
    ]);
  }

  async #tryWrite(count: number, written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch {
      this.#lost += count;
    }
  }

  #schedule(): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => void this.flush(), FLUSH_AFTER_MS);
    this.#timer.unref();
  }
}

function chunks<Item>(items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / CHUNK);
  return Array.from({ length: count }, (_, at) => items.slice(at * CHUNK, (at + 1) * CHUNK));
}
