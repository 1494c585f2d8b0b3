import type { RegexProgram } from "./regex/index.ts";
import type { ValueSet } from "./value-set.ts";

/**
 * The kinds of JSON value as bits, in the order in which Ajv reports on them. An integer carries the
 * bits of `integer` and of `number`; `none` is what no value has.
 */
export const KIND = {
  number: 1,
  integer: 2,
  string: 4,
  array: 8,
  object: 16,
  boolean: 32,
  null: 64,
  none: 128,
} as const;

/** A pattern as it was written (error texts quote it) and as it runs. */
export interface Pattern {
  readonly source: string;
  readonly program: RegexProgram;
}

/** A positive decimal as `digits × 10^exponent`, so that `multipleOf: 0.01` is exact. */
export interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** What a number must fulfil. A limit that is absent is NaN: every comparison with it is false. */
export class NumberRules {
  maximum = NaN;
  minimum = NaN;
  exclusiveMaximum = NaN;
  exclusiveMinimum = NaN;
  multipleOf = NaN;
  divisor: Decimal | null = null;
}

/** What a string must fulfil; lengths are code points. */
export class StringRules {
  maxLength = Infinity;
  minLength = 0;
  pattern: Pattern | null = null;
}

/** What an array must fulfil. */
export class ArrayRules {
  maxItems = Infinity;
  minItems = 0;
  /** Schemas for the first items, one each. */
  prefix: readonly SchemaNode[] = [];
  /** The schema for the items after `prefix`. */
  rest: SchemaNode | null = null;
  /** True when there is a tuple; decides how an item too many is reported. */
  tuple = false;
  /** True for `additionalItems`, which reports before the items of the tuple do. */
  restFirst = false;
  contains: SchemaNode | null = null;
  minContains = 1;
  maxContains = Infinity;
  /** True where an item matched by `contains` counts as evaluated (2020-12). */
  containsEvaluates = false;
  unique = false;
  /** True when `items` allows scalars only; decides which pair of twins the error names. */
  scalarItems = false;
  unevaluated: SchemaNode | null = null;
}

/** `dependentRequired` and `dependentSchemas`, or both halves of the older `dependencies`. */
export class Dependents {
  readonly required: { readonly name: string; readonly names: readonly string[] }[] = [];
  readonly schemas: NamedNode[] = [];
}

/** A name and the schema for it. */
export interface NamedNode {
  readonly name: string;
  readonly node: SchemaNode;
}

const NO_PROPERTIES: ReadonlyMap<string, Property> = new Map();

/** What is asked of one name in an object. */
export interface Property {
  readonly name: string;
  /** Its place in the list. */
  readonly index: number;
  /** Its schema under `properties`; null when it is named in `required` only. */
  readonly node: SchemaNode | null;
  readonly required: boolean;
}

/** What an object must fulfil. */
export class ObjectRules {
  maxProperties = Infinity;
  minProperties = 0;
  required: readonly string[] = [];
  propertyNames: SchemaNode | null = null;
  properties: readonly NamedNode[] = [];
  /** `properties` and `required` in one list, and the same by name. */
  asked: readonly Property[] = [];
  askedByName: ReadonlyMap<string, Property> = NO_PROPERTIES;
  patterns: readonly { readonly pattern: Pattern; readonly node: SchemaNode }[] = [];
  additional: SchemaNode | null = null;
  dependencies: Dependents | null = null;
  dependents: Dependents | null = null;
  unevaluated: SchemaNode | null = null;
  /** True when there are no keywords but `properties`, `required` and `additionalProperties`. */
  isPlain = false;
  /** True when a keyword looks at the names that the value has. */
  readsNames = false;
}

/** A reference, resolved. */
export interface Reference {
  readonly target: SchemaNode;
  /** True when Ajv writes the target's checks in place: decides which errors its text lists. */
  readonly inPlace: boolean;
  /** The anchor to look for in the dynamic scope first; null for a plain reference. */
  readonly anchor: string | null;
}

/** Keywords that apply to a value of any kind. */
export class LogicRules {
  dynamicRef: Reference | null = null;
  ref: Reference | null = null;
  constant: ValueSet | null = null;
  enumeration: ValueSet | null = null;
  not: SchemaNode | null = null;
  anyOf: readonly SchemaNode[] | null = null;
  oneOf: readonly SchemaNode[] | null = null;
  allOf: readonly SchemaNode[] | null = null;
  condition: SchemaNode | null = null;
  // Named so, because an object with a `then` looks like a promise.
  whenTrue: SchemaNode | null = null;
  whenFalse: SchemaNode | null = null;
}

/** The dynamic anchors of one schema resource; its nodes share the object. */
export class Scope {
  anchors: Map<string, SchemaNode> | null = null;
}

/** One sub-schema in prepared form. Rules are grouped by kind, so that a value meets only its own. */
export class SchemaNode {
  /** Allowed kinds, as `KIND` bits; 0 allows all. */
  kinds = 0;
  /** True when a wrong kind is reported after the keywords for any kind, as Ajv orders them. */
  kindLate = false;
  /** `type` as error texts write it. */
  kindText = "";
  logic: LogicRules | null = null;
  numbers: NumberRules | null = null;
  strings: StringRules | null = null;
  arrays: ArrayRules | null = null;
  objects: ObjectRules | null = null;
  /** The kinds that some rules here are about, as `KIND` bits. */
  ruledKinds = 0;
  /** The kinds with an `unevaluatedItems` or `unevaluatedProperties` here, as `KIND` bits. */
  unevaluatedKinds = 0;
  readonly scope: Scope;

  constructor(scope: Scope) {
    this.scope = scope;
  }

  /** True when no value can fail here, so that `ANY` may stand in. */
  get allowsAll(): boolean {
    return (
      this.kinds === 0 &&
      this.logic === null &&
      this.numbers === null &&
      this.strings === null &&
      this.arrays === null &&
      this.objects === null
    );
  }
}

const NOWHERE = new Scope();

/** The schema `true`. */
export const ANY: SchemaNode = Object.freeze(new SchemaNode(NOWHERE));

/** The schema `false`: of no kind at all. */
export const NEVER: SchemaNode = Object.freeze(
  Object.assign(new SchemaNode(NOWHERE), { kinds: KIND.none }),
);
