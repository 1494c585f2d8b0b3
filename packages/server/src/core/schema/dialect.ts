import { isJsonObject } from "./json-object.ts";

/** The dialects as bits, so that a keyword can say in which of them it means something. */
export const DIALECT = { draft2020: 1, draft2019: 2, draft07: 4 } as const;

/** Which edition of JSON Schema a schema is written in. */
export interface Dialect {
  readonly bit: number;
  /**
   * True when the schema names no dialect. It is then read as 2020-12, but the older forms of
   * `items` pass too: many generators emit them without saying so.
   */
  readonly lenient: boolean;
}

const UNNAMED: Dialect = { bit: DIALECT.draft2020, lenient: true };

const NAMED: ReadonlyMap<string, Dialect> = new Map([
  ["json-schema.org/draft/2020-12/schema", { bit: DIALECT.draft2020, lenient: false }],
  ["json-schema.org/draft/2019-09/schema", { bit: DIALECT.draft2019, lenient: false }],
  ["json-schema.org/draft-07/schema", { bit: DIALECT.draft07, lenient: false }],
  ["json-schema.org/draft-06/schema", { bit: DIALECT.draft07, lenient: false }],
]);

/**
 * Reads the dialect from the root's `$schema`; null when Relay does not support it. `http`, `https`
 * and a closing `#` are one and the same; draft-06 is read as draft-07.
 */
export function dialectOf(schema: unknown): Dialect | null {
  if (!isJsonObject(schema) || !Object.hasOwn(schema, "$schema")) return UNNAMED;
  const name = schema["$schema"];
  if (typeof name !== "string") return null;
  return NAMED.get(name.replace(/^https?:\/\//, "").replace(/#$/, "")) ?? null;
}
