import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Keeps everybody else from writing the database, as a busy disk would, until it is disposed. */
export class Blockade {
  readonly #db: DatabaseSync;

  constructor(dataDir: string) {
    this.#db = new DatabaseSync(join(dataDir, "relay.db"), { timeout: 5_000 });
    this.#db.exec("BEGIN IMMEDIATE");
  }

  end(): void {
    if (!this.#db.isOpen) return;
    this.#db.exec("ROLLBACK");
    this.#db.close();
  }

  [Symbol.dispose](): void {
    this.end();
  }
}
