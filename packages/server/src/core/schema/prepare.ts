import { dialectOf } from "./dialect.ts";
import { metaSchemaResource } from "./meta-schema-resource.ts";
import type { SchemaNode } from "./schema-node.ts";
import { PatternUse, SchemaFault, Walk } from "./walk.ts";

export { PREPARE_LIMITS, PatternUse } from "./walk.ts";

/** A schema ready to be checked against. It depends on nothing but the schema's content. */
export interface PreparedSchema {
  readonly root: SchemaNode;
  /** An estimate of the memory it keeps, in bytes. */
  readonly bytes: number;
}

/** A prepared schema, or the place of its first fault ("" is the root) and a phrase that follows it. */
export type Preparation =
  | { readonly ok: true; readonly schema: PreparedSchema }
  | { readonly ok: false; readonly path: string; readonly reason: string };

/**
 * Judges a schema, given as JSON.parse made it, and prepares it. `use` counts patterns over all
 * schemas of one manifest. Dialects 2020-12 (default), 2019-09, draft-07 and draft-06. Source: SPEC 8.
 */
export function prepareSchema(schema: unknown, use: PatternUse = new PatternUse()): Preparation {
  const dialect = dialectOf(schema);
  if (dialect === null) {
    return { ok: false, path: "$schema", reason: "names an unsupported JSON Schema dialect" };
  }
  const walk = new Walk(dialect, use, metaSchemaResource);
  try {
    const root = walk.document(schema);
    walk.resolve();
    return { ok: true, schema: { root, bytes: walk.bytes } };
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    return { ok: false, path: error.place, reason: error.reason };
  }
}
