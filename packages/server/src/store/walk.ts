import { strict as assert } from "node:assert";
import type { SQLInputValue } from "node:sqlite";
import type { Connection, Row } from "./connection.ts";
import { writeCursor } from "./cursor.ts";
import type { Place } from "./cursor.ts";
import { text } from "./rows.ts";
import type { Paged } from "./store.ts";

/** How many rows a page may look at before it comes back short (SPEC 9). */
export const LOOK_MAX = 20_000;

/** A condition and the values of its question marks. */
export type Condition = { readonly sql: string; readonly values: readonly SQLInputValue[] };

/** An ordered walk through one index. */
export type Walk = {
  readonly columns: string;
  /** The table whose index it is, and what is joined to each row that is taken. */
  readonly table: string;
  readonly joins: string;
  /** The part of the index to walk through. */
  readonly within: readonly Condition[];
  /** The two columns the index goes on with: what is sorted by, and the id that breaks ties. */
  readonly order: readonly [value: string, id: string];
  readonly descending: boolean;
  /** Where the page before ended; null to begin. */
  readonly after: Place | null;
  /** Which of the rows that are looked at are taken. */
  readonly filter: readonly Condition[];
};

/** `stoppedAt` is the last place looked at where the walk gave up looking, null where it ended. */
export type WalkEnd = {
  readonly rows: readonly Row[];
  readonly looked: number;
  readonly stoppedAt: Place | null;
};

/** Walks until `rowsMax` rows are taken or `lookMax` are looked at; bounded in SQLite itself. */
export function walk(db: Connection, way: Walk, rowsMax: number, lookMax: number): WalkEnd {
  const after = way.after === null ? [] : [beyond(way, way.after)];
  const scope = [...way.within, ...after];
  if (way.filter.length === 0) {
    // Each row looked at is taken.
    const rows = take(db, way, scope, Math.min(rowsMax, lookMax));
    return { rows, looked: rows.length, stoppedAt: null };
  }
  const edge = placeAt(db, way, scope, lookMax - 1);
  const seen = edge === null ? scope : [...scope, upTo(way, edge)];
  const rows = take(db, way, [...seen, ...way.filter], rowsMax);
  if (edge !== null) return { rows, looked: lookMax, stoppedAt: edge };
  // Whoever has all the rows asked for does not ask how far they were looked for.
  const looked = rows.length < rowsMax ? count(db, way, scope) : 0;
  return { rows, looked, stoppedAt: null };
}

/**
 * Makes a page of the rows of a walk that took up to one more than `limit`: that one tells whether
 * there is a next page.
 */
export function pageOf<Item>(
  list: string,
  limit: number,
  found: { readonly rows: readonly Row[]; readonly stoppedAt: Place | null },
  read: (row: Row) => Item,
): Paged<Item> {
  const items = found.rows.slice(0, limit).map(read);
  const last = found.rows.length > limit ? placeOf(found.rows[limit - 1]) : found.stoppedAt;
  return { items, nextCursor: last === null ? null : writeCursor(list, last) };
}

function take(db: Connection, way: Walk, where: readonly Condition[], most: number): Row[] {
  const [value, id] = way.order;
  const sql = `SELECT ${way.columns}, ${value} AS sort_value, ${id} AS sort_id
    FROM ${way.table} ${way.joins} WHERE ${sqlOf(where)} ORDER BY ${orderOf(way)} LIMIT ?`;
  return db.all(sql, ...valuesOf(where), most);
}

function placeAt(
  db: Connection,
  way: Walk,
  where: readonly Condition[],
  offset: number,
): Place | null {
  const [value, id] = way.order;
  const sql = `SELECT ${value} AS sort_value, ${id} AS sort_id FROM ${way.table}
    WHERE ${sqlOf(where)} ORDER BY ${orderOf(way)} LIMIT 1 OFFSET ?`;
  const row = db.get(sql, ...valuesOf(where), offset);
  return row === undefined ? null : placeOf(row);
}

function count(db: Connection, way: Walk, where: readonly Condition[]): number {
  const sql = `SELECT count(*) AS n FROM ${way.table} WHERE ${sqlOf(where)}`;
  return Number(db.get(sql, ...valuesOf(where))?.["n"] ?? 0);
}

function beyond({ order, descending }: Walk, place: Place): Condition {
  return { sql: `(${order.join()}) ${descending ? "<" : ">"} (?, ?)`, values: place };
}

function upTo({ order, descending }: Walk, place: Place): Condition {
  return { sql: `(${order.join()}) ${descending ? ">=" : "<="} (?, ?)`, values: place };
}

function orderOf({ order, descending }: Walk): string {
  return order.map((column) => (descending ? `${column} DESC` : column)).join();
}

function sqlOf(conditions: readonly Condition[]): string {
  return conditions.map(({ sql }) => sql).join(" AND ");
}

function valuesOf(conditions: readonly Condition[]): SQLInputValue[] {
  return conditions.flatMap(({ values }) => values);
}

function placeOf(row: Row | undefined): Place {
  assert(row !== undefined);
  const value = row["sort_value"];
  assert(typeof value === "number" || typeof value === "string");
  return [value, text(row, "sort_id")];
}
