import type { JsonObject } from "./json-object.ts";
import { Scope } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";

/**
 * A schema document, or the part of one under an `$id`: what references are resolved against. Needed
 * while a schema is prepared only.
 */
export class Resource {
  readonly uri: string;
  readonly raw: unknown;
  /** Where it stands in the schema as a whole. */
  readonly place: readonly (string | number)[];
  /** The sub-schemas walked so far, by their JSON; shared by the resources of one walk. */
  readonly nodes: Map<JsonObject, SchemaNode>;
  readonly scope = new Scope();
  /** The sub-schemas that have a plain name here. */
  readonly anchors = new Map<string, JsonObject>();

  constructor(
    uri: string,
    raw: unknown,
    place: readonly (string | number)[],
    nodes: Map<JsonObject, SchemaNode>,
  ) {
    this.uri = uri;
    this.raw = raw;
    this.place = place;
    this.nodes = nodes;
  }
}
