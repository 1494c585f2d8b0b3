import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { UserId } from "@relay/protocol";
import type { Person, SessionLine, UserLine } from "./port.ts";

const PEOPLE_MAX = 1_000;
/** What one sweep clears of each kind. */
const SWEPT_MAX = 10_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** A user's sessions that are shown and can be ended one by one. */
const SESSIONS_MAX = 100;

type Row = Readonly<Record<string, SQLOutputValue>>;

/** What better-auth keeps and has no question for: who is there, and their sessions by id. */
export class PeopleList {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Names and addresses of users, at most 1,000 at once. */
  peopleOf(userIds: readonly UserId[]): ReadonlyMap<UserId, Person> {
    const rows = this.#all(
      `SELECT id, name, email FROM "user" WHERE id IN (SELECT value FROM json_each(?))
       LIMIT ${PEOPLE_MAX}`,
      JSON.stringify(userIds.slice(0, PEOPLE_MAX)),
    );
    return new Map(rows.map((row) => [userIdOf(row), personOf(row)]));
  }

  /** Users, the newest first: their ids grow with time. */
  list(limit: number, before: UserId | null): readonly UserLine[] {
    return this.#all(
      `SELECT id, name, email, disabled, createdAt FROM "user" WHERE id < ? ORDER BY id DESC LIMIT ?`,
      before ?? "~",
      Math.min(limit, PEOPLE_MAX),
    ).map((row) => ({
      userId: userIdOf(row),
      ...personOf(row),
      disabled: row["disabled"] === 1,
      createdAt: timeOf(row["createdAt"]),
    }));
  }

  setDisabled(userId: UserId, disabled: boolean): boolean {
    const changed = this.#database
      .prepare('UPDATE "user" SET disabled = ? WHERE id = ?')
      .run(Number(disabled), userId);
    if (disabled) this.#database.prepare("DELETE FROM session WHERE userId = ?").run(userId);
    return changed.changes > 0;
  }

  sessionsOf(userId: UserId, current: string, now: number): readonly SessionLine[] {
    return this.#all(
      `SELECT id, createdAt, updatedAt, expiresAt, ipAddress, userAgent FROM session
       WHERE userId = ? ORDER BY updatedAt DESC LIMIT ${SESSIONS_MAX}`,
      userId,
    )
      .map((row) => ({
        sessionId: String(row["id"]),
        isCurrent: row["id"] === current,
        createdAt: timeOf(row["createdAt"]),
        lastUsedAt: timeOf(row["updatedAt"]),
        expiresAt: timeOf(row["expiresAt"]),
        address: textOf(row["ipAddress"]),
        userAgent: textOf(row["userAgent"]),
      }))
      .filter(({ expiresAt }) => expiresAt > now);
  }

  endSession(userId: UserId, sessionId: string): boolean {
    const ended = this.#database
      .prepare("DELETE FROM session WHERE id = ? AND userId = ?")
      .run(sessionId, userId);
    return ended.changes > 0;
  }

  /** Clears away sessions and proofs that are over, and counts of requests a day old. */
  sweep(now: number): void {
    const over = new Date(now).toISOString();
    for (const table of ["session", "verification"]) {
      this.#database
        .prepare(
          `DELETE FROM ${table} WHERE id IN
             (SELECT id FROM ${table} WHERE expiresAt < ? LIMIT ${SWEPT_MAX})`,
        )
        .run(over);
    }
    this.#database.prepare("DELETE FROM rateLimit WHERE lastRequest < ?").run(now - DAY_MS);
  }

  #all(sql: string, ...values: (string | number)[]): readonly Row[] {
    return this.#database.prepare(sql).all(...values);
  }
}

function userIdOf(row: Row): UserId {
  // An id that better-auth had from `mintUserId`.
  return String(row["id"]) as UserId;
}

function personOf(row: Row): Person {
  return { name: String(row["name"]), email: String(row["email"]) };
}

function textOf(value: SQLOutputValue | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** better-auth writes times as ISO texts. */
function timeOf(value: SQLOutputValue | undefined): number {
  return typeof value === "number" ? value : Date.parse(String(value));
}
