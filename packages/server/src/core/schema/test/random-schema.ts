import { DIALECT } from "../dialect.ts";
import type { JsonObject } from "../json-object.ts";
import { KEYWORDS } from "../keywords.ts";
import { DIALECT_URIS } from "./ajv-oracle.ts";
import type { DialectName } from "./ajv-oracle.ts";
import type { Random } from "./random.ts";
import { NAMES, randomNumber, randomScalar, randomString, randomValue } from "./random-value.ts";

const BITS: Readonly<Record<DialectName, number>> = {
  "2020-12": DIALECT.draft2020,
  "2019-09": DIALECT.draft2019,
  "draft-07": DIALECT.draft07,
};

/** Where a schema applies: to the value of the root, of definition 0, 1 or 2, or to a child of it. */
const ROOT = -1;
const CHILD = -2;

const DEPTH_MAX = 3;
const PATTERNS = ["^a", "b$", "^[a-c]*$", "[0-9]", "^.{1,2}$", "a|c", "", "^\\p{L}+$"] as const;
const KINDS = ["string", "number", "integer", "boolean", "null", "array", "object"] as const;

/** Makes random schemas of one dialect, with every keyword that Relay knows in it. */
export class SchemaMaker {
  /** How often each keyword was made. */
  readonly made = new Map<string, number>();
  readonly #random: Random;
  readonly #dialect: DialectName;
  readonly #keywords: readonly string[];
  #serial = 0;
  #embedded = false;

  constructor(random: Random, dialect: DialectName) {
    this.#random = random;
    this.#dialect = dialect;
    const known = [...KEYWORDS].filter(([, { dialects }]) => (dialects & BITS[dialect]) !== 0);
    this.#keywords = known
      .map(([name]) => name)
      .filter((name) => Object.hasOwn(this.#makers, name))
      // 2020-12 knows the shape of this one, and that is all.
      .filter((name) => name !== "$recursiveRef" || dialect === "2019-09");
  }

  /** A whole schema with definitions, anchors, ids and references among them. */
  root(): JsonObject {
    this.#serial += 1;
    const holder = this.#dialect === "draft-07" ? "definitions" : "$defs";
    const schema: JsonObject = { $schema: DIALECT_URIS[this.#dialect] };
    if (this.#dialect !== "draft-07") schema["$id"] = `http://relay.test/${this.#serial}/root`;
    if (this.#dialect === "2020-12") schema["$dynamicAnchor"] = "node";
    if (this.#dialect === "2019-09") schema["$recursiveAnchor"] = true;
    const definitions = Object.fromEntries([0, 1, 2].map((at) => [`d${at}`, this.#definition(at)]));
    return { ...schema, ...this.#object(0, ROOT), [holder]: definitions };
  }

  #definition(place: number): JsonObject {
    this.#embedded = place === 2;
    const schema = this.#object(1, place);
    this.#embedded = false;
    if (this.#dialect === "draft-07") {
      if (place !== 1) return schema;
      delete schema["$ref"];
      return { $id: "#d1", ...schema };
    }
    if (place === 1) return { $anchor: "d1", ...schema };
    return place === 2 ? { $id: "d2", ...schema } : schema;
  }

  #schema(depth: number, place: number): JsonObject | boolean {
    if (this.#random.chance(0.08)) return this.#random.chance(0.6);
    return this.#object(depth, place);
  }

  #object(depth: number, place: number): JsonObject {
    const schema: JsonObject = {};
    const wanted = depth >= DEPTH_MAX ? 1 : 1 + this.#random.below(4);
    if (this.#random.chance(0.5)) this.#put(schema, "type", depth, place);
    for (const keyword of this.#random.some(this.#keywords, wanted)) {
      this.#put(schema, keyword, depth, place);
      for (const friend of FRIENDS[keyword] ?? []) {
        const isKnown = this.#keywords.includes(friend);
        if (isKnown && this.#random.chance(0.5)) this.#put(schema, friend, depth, place);
      }
    }
    return schema;
  }

  #put(schema: JsonObject, keyword: string, depth: number, place: number): void {
    const value = this.#makers[keyword]?.(depth, place);
    if (value === undefined) return;
    schema[keyword] = value;
    this.#count(keyword);
  }

  #count(keyword: string): void {
    this.made.set(keyword, (this.made.get(keyword) ?? 0) + 1);
  }

  /** A schema for a child of the value: it may go round in circles, since values end. */
  #child(depth: number): JsonObject | boolean {
    return this.#schema(depth + 1, CHILD);
  }

  #children(depth: number): (JsonObject | boolean)[] {
    return Array.from({ length: 1 + this.#random.below(2) }, () => this.#child(depth));
  }

  #inPlace(depth: number, place: number): (JsonObject | boolean)[] {
    const length = 1 + this.#random.below(3);
    return Array.from({ length }, () => this.#schema(depth + 1, place));
  }

  #map<Value>(names: readonly string[], make: () => Value): Record<string, Value> {
    return Object.fromEntries(this.#random.some(names, 2).map((name) => [name, make()]));
  }

  readonly #small = (): number => this.#random.below(4);
  readonly #number = (): number => randomNumber(this.#random);
  readonly #names = (): string[] => this.#random.some(NAMES, 2);
  readonly #one = (depth: number, place: number): JsonObject | boolean =>
    this.#schema(depth + 1, place);

  /** A definition refers in place to later ones only, so that no check runs in a circle. */
  readonly #reference = (_depth: number, place: number): string | undefined => {
    const first = place < 0 ? 0 : place + 1;
    if (first > 2) return undefined;
    const target = first + this.#random.below(3 - first);
    if (this.#dialect === "draft-07") {
      return target === 1 && this.#random.chance(0.5) ? "#d1" : `#/definitions/d${target}`;
    }
    const named = [`root#/$defs/d0`, "root#d1", "d2"][target] ?? "";
    return this.#random.pick([named, `root#/$defs/d${target}`, `../${this.#serial}/${named}`]);
  };

  /** Ajv finds its way back to the root only from outside of embedded resources. */
  #backToRoot(place: number, reference: string): string | undefined {
    return place === CHILD && !this.#embedded ? reference : undefined;
  }

  readonly #makers: Readonly<Record<string, (depth: number, place: number) => unknown>> = {
    $ref: this.#reference,
    $dynamicRef: (_depth, place) => this.#backToRoot(place, "#node"),
    $recursiveRef: (_depth, place) => this.#backToRoot(place, "#"),
    type: () => {
      const kinds = this.#random.some(KINDS, 2);
      return this.#random.chance(0.7) || kinds.length === 0 ? this.#random.pick(KINDS) : kinds;
    },
    const: () => randomValue(this.#random, 2),
    enum: () =>
      Array.from({ length: 1 + this.#small() }, (_, at) => [at, randomScalar(this.#random)][1]),
    not: this.#one,
    anyOf: (depth, place) => this.#inPlace(depth, place),
    oneOf: (depth, place) => this.#inPlace(depth, place),
    allOf: (depth, place) => this.#inPlace(depth, place),
    if: this.#one,
    then: this.#one,
    else: this.#one,
    maximum: this.#number,
    minimum: this.#number,
    exclusiveMaximum: this.#number,
    exclusiveMinimum: this.#number,
    multipleOf: () => this.#random.pick([1, 2, 3, 0.5, 0.25, 1.5]),
    maxLength: this.#small,
    minLength: this.#small,
    pattern: () => this.#random.pick(PATTERNS),
    format: () => this.#random.pick(["email", "date-time", "unknown"]),
    maxItems: this.#small,
    minItems: this.#small,
    prefixItems: (depth) => this.#children(depth),
    items: (depth) =>
      this.#dialect !== "2020-12" && this.#random.chance(0.5)
        ? this.#children(depth)
        : this.#child(depth),
    additionalItems: (depth) => this.#child(depth),
    contains: (depth) => this.#child(depth),
    minContains: this.#small,
    maxContains: this.#small,
    uniqueItems: () => this.#random.chance(0.8),
    unevaluatedItems: (depth) => this.#child(depth),
    maxProperties: this.#small,
    minProperties: this.#small,
    required: this.#names,
    propertyNames: (depth) => this.#child(depth),
    properties: (depth) => this.#map(NAMES, () => this.#child(depth)),
    patternProperties: (depth) => this.#map(PATTERNS, () => this.#child(depth)),
    additionalProperties: (depth) => this.#child(depth),
    dependencies: (depth, place) =>
      this.#map(NAMES, () => (this.#random.chance(0.5) ? this.#names() : this.#one(depth, place))),
    dependentRequired: () => this.#map(NAMES, this.#names),
    dependentSchemas: (depth, place) => this.#map(NAMES, () => this.#one(depth, place)),
    unevaluatedProperties: (depth) => this.#child(depth),
    title: () => randomString(this.#random),
    default: () => randomScalar(this.#random),
  };
}

/** Keywords that mean more together. */
const FRIENDS: Readonly<Record<string, readonly string[]>> = {
  if: ["then", "else"],
  contains: ["minContains", "maxContains", "unevaluatedItems"],
  items: ["additionalItems", "prefixItems", "uniqueItems"],
  prefixItems: ["items", "unevaluatedItems"],
  properties: ["required", "additionalProperties", "unevaluatedProperties"],
  patternProperties: ["properties", "additionalProperties", "unevaluatedProperties"],
  anyOf: ["unevaluatedProperties", "unevaluatedItems"],
  allOf: ["unevaluatedProperties", "unevaluatedItems"],
  dependentSchemas: ["unevaluatedProperties"],
};
