import { isJsonObject } from "./json-object.ts";
import type { Resource } from "./resource.ts";
import type { SchemaNode } from "./schema-node.ts";
import type { PendingReference, Walk } from "./walk.ts";

/** What a reference points at. */
export interface ReferenceTarget {
  readonly node: SchemaNode;
  /** The JSON it was prepared from. */
  readonly raw: unknown;
  /** The dynamic anchor it was reached by, for a dynamic reference; else null. */
  readonly anchor: string | null;
}

const NOTHING = "refers to nothing in this schema";

/**
 * Finds what a reference points at: a place in the same schema or in an official meta-schema, never
 * in another document. Refuses the schema where there is nothing.
 */
export function resolveReference(walk: Walk, reference: PendingReference): ReferenceTarget {
  const hash = reference.text.indexOf("#");
  const document = hash < 0 ? reference.text : reference.text.slice(0, hash);
  const fragment = decodeFragment(walk, hash < 0 ? "" : reference.text.slice(hash + 1));
  const resource = findResource(walk, reference.resource, document);
  if (fragment.startsWith("/")) return followPointer(walk, resource, fragment);
  const raw = fragment === "" ? resource.raw : resource.anchors.get(fragment);
  if (raw === undefined) return walk.fail(NOTHING);
  const isDynamic = reference.dynamic && resource.scope.anchors?.has(fragment) === true;
  const node = nodeAt(walk, resource, raw, resource.place);
  return { node, raw, anchor: isDynamic ? fragment : null };
}

function decodeFragment(walk: Walk, text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return walk.fail("is not a well-formed reference");
  }
}

function findResource(walk: Walk, from: Resource, document: string): Resource {
  if (document === "") return from;
  const uri = walk.resolveUri(from, document);
  const found = walk.resources.get(uri) ?? walk.findDocument(uri);
  return found ?? walk.fail("refers to another document, which Relay does not support");
}

function followPointer(walk: Walk, resource: Resource, pointer: string): ReferenceTarget {
  const place = [...resource.place];
  let raw = resource.raw;
  for (const token of pointer.slice(1).split("/")) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(raw)) {
      const index = /^(?:0|[1-9][0-9]*)$/.test(key) ? Number(key) : raw.length;
      if (index >= raw.length) return walk.fail(NOTHING);
      place.push(index);
      raw = raw[index];
    } else {
      if (!isJsonObject(raw) || !Object.hasOwn(raw, key)) return walk.fail(NOTHING);
      place.push(key);
      raw = raw[key];
    }
  }
  return { node: nodeAt(walk, resource, raw, place), raw, anchor: null };
}

function nodeAt(
  walk: Walk,
  resource: Resource,
  raw: unknown,
  place: readonly (string | number)[],
): SchemaNode {
  if (!isJsonObject(raw)) return walk.detached(raw, resource, place);
  const known = resource.nodes.get(raw);
  if (known !== undefined) return known;
  // A meta-schema serves everybody: nothing more may be walked in it.
  return walk.owns(resource) ? walk.detached(raw, resource, place) : walk.fail(NOTHING);
}
