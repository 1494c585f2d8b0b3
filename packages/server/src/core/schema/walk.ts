import { DIALECT } from "./dialect.ts";
import type { Dialect } from "./dialect.ts";
import { finishNode, nodeBytes } from "./finish-node.ts";
import { isJsonObject, ownValue } from "./json-object.ts";
import type { JsonObject } from "./json-object.ts";
import { KEYWORDS } from "./keywords.ts";
import { placeText } from "./place.ts";
import { compilePattern } from "./regex/index.ts";
import { resolveReference } from "./resolve-reference.ts";
import { Resource } from "./resource.ts";
import { ANY, LogicRules, NEVER, SchemaNode } from "./schema-node.ts";
import type { Pattern } from "./schema-node.ts";
import { resolveUri } from "./uri.ts";

/** How much one schema may hold, and the patterns of one manifest; no real manifest comes near. */
export const PREPARE_LIMITS = {
  depth: 64,
  schemas: 8_000,
  references: 1_500,
  ids: 64,
  uriCharacters: 1_024,
  patternsPerManifest: 300,
  instructionsPerManifest: 40_000,
} as const;

const BASE_URI = "relay:///s";
const BYTES_PER_PATTERN = 1_800;
const BYTES_PER_INSTRUCTION = 40;

/** What the patterns of one manifest come to so far. One object is shared by all of its schemas. */
export class PatternUse {
  patterns = 0;
  instructions = 0;
}

/** Thrown by a walk at the first fault of a schema; `prepareSchema` catches it. */
export class SchemaFault extends Error {
  override readonly name = "SchemaFault";
  readonly place: string;
  readonly reason: string;

  constructor(place: string, reason: string) {
    super(`${place} ${reason}`);
    this.place = place;
    this.reason = reason;
  }
}

/** A reference met on the way; all are resolved once the walk has seen every anchor and `$id`. */
export interface PendingReference {
  readonly text: string;
  readonly dynamic: boolean;
  readonly resource: Resource;
  readonly place: readonly (string | number)[];
  readonly rules: LogicRules;
}

/**
 * One pass over the known sub-schema places of a schema: checks the shape of every known keyword,
 * builds the prepared nodes, and keeps the tables that references are resolved with. Throws
 * `SchemaFault`.
 */
export class Walk {
  readonly dialect: Dialect;
  /** Finds a document outside of the schema: one of the official meta-schemas. */
  readonly findDocument: (uri: string) => Resource | null;
  readonly resources = new Map<string, Resource>();
  /** An estimate of the memory that the prepared nodes keep, in bytes. */
  bytes = 0;
  #place: (string | number)[] = [];
  #depth = 0;
  #schemas = 0;
  #resource: Resource;
  readonly #nodes = new Map<JsonObject, SchemaNode>();
  /** The JSON objects that have a reference inside. */
  readonly #referring = new Set<JsonObject>();
  readonly #pending: PendingReference[] = [];
  readonly #patterns = new Map<string, Pattern>();
  readonly #use: PatternUse;

  constructor(dialect: Dialect, use: PatternUse, findDocument: (uri: string) => Resource | null) {
    this.dialect = dialect;
    this.findDocument = findDocument;
    this.#use = use;
    this.#resource = new Resource(BASE_URI, true, [], this.#nodes);
  }

  /** Walks a whole document. */
  document(raw: unknown): SchemaNode {
    return this.detached(raw, new Resource(BASE_URI, raw, [], this.#nodes), []);
  }

  /** Walks what a reference points at but no known keyword holds. */
  detached(raw: unknown, resource: Resource, place: readonly (string | number)[]): SchemaNode {
    this.#resource = resource;
    this.#place = [...place];
    this.#depth = 0;
    return this.schema(raw);
  }

  /** Says whether a resource is part of what this walk prepares. */
  owns(resource: Resource): boolean {
    return resource.nodes === this.#nodes;
  }

  /** Resolves every reference; to be called once all documents are walked. */
  resolve(): void {
    // Resolving may walk detached places, which may add references to the end of the list.
    for (const pending of this.#pending) {
      this.#place = [...pending.place];
      const { node, raw, anchor } = resolveReference(this, pending);
      const inPlace = !pending.dynamic && !(isJsonObject(raw) && this.#referring.has(raw));
      if (pending.dynamic) pending.rules.dynamicRef = { target: node, inPlace, anchor };
      else pending.rules.ref = { target: node, inPlace, anchor: null };
    }
  }

  /** Prepares one sub-schema. */
  schema(raw: unknown): SchemaNode {
    if (raw === true) return ANY;
    if (raw === false) return NEVER;
    if (!isJsonObject(raw)) return this.fail("must be an object or a boolean");
    if (this.#depth >= PREPARE_LIMITS.depth) {
      return this.fail(`is nested more than ${PREPARE_LIMITS.depth} schemas deep`);
    }
    this.#schemas += 1;
    if (this.#schemas > PREPARE_LIMITS.schemas) {
      return this.fail(`is one of more than ${PREPARE_LIMITS.schemas} sub-schemas`);
    }
    this.#depth += 1;
    const outer = this.#resource;
    const own = this.#ownResource(raw);
    this.#resource = own;
    const node = this.#keywords(raw);
    this.#nameNode(raw, node);
    this.#nodes.set(raw, node);
    this.#resource = outer;
    this.#depth -= 1;
    return node;
  }

  /** Prepares the sub-schema under a key of the value at hand. */
  child(key: string | number, raw: unknown): SchemaNode {
    this.#place.push(key);
    const node = this.schema(raw);
    this.#place.pop();
    return node;
  }

  /** Compiles a pattern, once per schema, and counts it against the manifest's limits. */
  pattern(source: string, ...keys: readonly string[]): Pattern {
    const known = this.#patterns.get(source);
    if (known !== undefined) return known;
    this.#use.patterns += 1;
    if (this.#use.patterns > PREPARE_LIMITS.patternsPerManifest) {
      return this.fail(
        `is one of more than ${PREPARE_LIMITS.patternsPerManifest} patterns`,
        ...keys,
      );
    }
    const compiled = compilePattern(source);
    if (!compiled.ok) return this.fail(compiled.reason, ...keys);
    this.#use.instructions += compiled.program.size;
    if (this.#use.instructions > PREPARE_LIMITS.instructionsPerManifest) {
      return this.fail("makes the patterns of the tools together too large", ...keys);
    }
    const pattern = { source, program: compiled.program };
    this.bytes += BYTES_PER_PATTERN + BYTES_PER_INSTRUCTION * compiled.program.size;
    this.#patterns.set(source, pattern);
    return pattern;
  }

  /** Keeps a reference for `resolve`. */
  reference(node: SchemaNode, text: string, dynamic: boolean): void {
    if (this.#pending.length >= PREPARE_LIMITS.references) {
      this.fail(`is one of more than ${PREPARE_LIMITS.references} references`);
    }
    node.logic ??= new LogicRules();
    const place = [...this.#place];
    this.#pending.push({ text, dynamic, resource: this.#resource, place, rules: node.logic });
  }

  /** Resolves a URI reference without fragment against a resource's. */
  resolveUri(resource: Resource, document: string, ...keys: readonly string[]): string {
    const uri = resolveUri(resource.uri, document);
    if (uri.length <= PREPARE_LIMITS.uriCharacters) return uri;
    return this.fail(`is longer than ${PREPARE_LIMITS.uriCharacters} characters`, ...keys);
  }

  /** Refuses the schema because of the value at hand, or of what stands further down in it. */
  fail(reason: string, ...keys: readonly (string | number)[]): never {
    throw new SchemaFault(placeText([...this.#place, ...keys]), reason);
  }

  /** An `$id` opens a resource. In draft-07 a `$ref` beside it silences it. */
  #ownResource(raw: JsonObject): Resource {
    const id = ownValue(raw, "$id");
    if (typeof id !== "string" || this.#isReferenceOnly(raw)) return this.#resource;
    const [document = ""] = id.split("#", 1);
    if (document === "") return this.#resource;
    const uri = this.resolveUri(this.#resource, document, "$id");
    if (this.resources.has(uri)) return this.fail("repeats an $id of this schema", "$id");
    if (this.resources.size >= PREPARE_LIMITS.ids) {
      return this.fail(`is one of more than ${PREPARE_LIMITS.ids} ids`, "$id");
    }
    const resource = new Resource(uri, raw, [...this.#place], this.#nodes);
    this.resources.set(uri, resource);
    return resource;
  }

  #isReferenceOnly(raw: JsonObject): boolean {
    return this.dialect.bit === DIALECT.draft07 && Object.hasOwn(raw, "$ref");
  }

  #keywords(raw: JsonObject): SchemaNode {
    const referencesBefore = this.#pending.length;
    const node = new SchemaNode(this.#resource.scope);
    // In draft-07 a $ref stands alone: its siblings must be well-formed, but say nothing.
    const beside = this.#isReferenceOnly(raw) ? new SchemaNode(this.#resource.scope) : node;
    let kinds = 0;
    for (const key of Object.keys(raw)) {
      const keyword = KEYWORDS.get(key);
      if (keyword === undefined || (keyword.dialects & this.dialect.bit) === 0) continue;
      kinds |= keyword.kinds;
      this.#place.push(key);
      keyword.read(this, key === "$ref" ? node : beside, raw[key], raw);
      this.#place.pop();
    }
    if (this.#pending.length > referencesBefore) this.#referring.add(raw);
    finishNode(node, raw, kinds);
    this.bytes += nodeBytes(node);
    return node.allowsAll ? ANY : node;
  }

  /** Notes the plain names of a sub-schema in its resource. */
  #nameNode(raw: JsonObject, node: SchemaNode): void {
    const { bit } = this.dialect;
    const resource = this.#resource;
    if (bit === DIALECT.draft07) {
      const id = ownValue(raw, "$id");
      if (typeof id === "string" && !this.#isReferenceOnly(raw)) {
        const [, fragment = ""] = id.split("#", 2);
        if (fragment !== "") this.#anchor(fragment, raw, "$id");
      }
      return;
    }
    const anchor = ownValue(raw, "$anchor");
    if (typeof anchor === "string") this.#anchor(anchor, raw, "$anchor");
    const dynamic = bit === DIALECT.draft2020 ? ownValue(raw, "$dynamicAnchor") : undefined;
    if (typeof dynamic === "string") {
      this.#anchor(dynamic, raw, "$dynamicAnchor");
      resource.scope.anchors ??= new Map();
      resource.scope.anchors.set(dynamic, node);
    }
    if (
      bit === DIALECT.draft2019 &&
      ownValue(raw, "$recursiveAnchor") === true &&
      resource.raw === raw
    ) {
      resource.scope.anchors ??= new Map();
      resource.scope.anchors.set("", node);
    }
  }

  #anchor(name: string, raw: JsonObject, key: string): void {
    const { anchors } = this.#resource;
    if (anchors.has(name)) this.fail("repeats an anchor of this schema", key);
    anchors.set(name, raw);
  }
}
