import { DIALECT } from "./dialect.ts";
import { ownValue } from "./json-object.ts";
import type { JsonObject } from "./json-object.ts";
import { toDecimal } from "./multiple-of.ts";
import {
  ArrayRules,
  Dependents,
  KIND,
  LogicRules,
  NumberRules,
  ObjectRules,
  StringRules,
} from "./schema-node.ts";
import type { Pattern, SchemaNode } from "./schema-node.ts";
import {
  readArray,
  readBoolean,
  readCount,
  readNames,
  readNumber,
  readObject,
  readSchemaMap,
  readSchemas,
  readString,
} from "./shape.ts";
import { ValueSet } from "./value-set.ts";
import type { Walk } from "./walk.ts";

/** A keyword that Relay knows; all others are ignored. */
export interface Keyword {
  /** The dialects in which it means something, as `DIALECT` bits. */
  readonly dialects: number;
  /** The kinds of value that it is about, as `KIND` bits; 0 for any or none. */
  readonly kinds: number;
  /** Checks the shape of the keyword's value and puts what it asks for into the node. */
  readonly read: (walk: Walk, node: SchemaNode, value: unknown, schema: JsonObject) => void;
}

type Read = Keyword["read"];

const SINCE_07 = DIALECT.draft07 | DIALECT.draft2019 | DIALECT.draft2020;
const SINCE_2019 = DIALECT.draft2019 | DIALECT.draft2020;
const SINCE_2020 = DIALECT.draft2020;

const onlyString: Read = (walk, _node, value) => void readString(walk, value);
const onlyBoolean: Read = (walk, _node, value) => void readBoolean(walk, value);
const onlyArray: Read = (walk, _node, value) => void readArray(walk, value);
const onlySchema: Read = (walk, _node, value) => void walk.schema(value);
const onlySchemaMap: Read = (walk, _node, value) => void readSchemaMap(walk, value);

const objectsOf = (node: SchemaNode): ObjectRules => (node.objects ??= new ObjectRules());
const arraysOf = (node: SchemaNode): ArrayRules => (node.arrays ??= new ArrayRules());
const stringsOf = (node: SchemaNode): StringRules => (node.strings ??= new StringRules());
const numbersOf = (node: SchemaNode): NumberRules => (node.numbers ??= new NumberRules());
const logicOf = (node: SchemaNode): LogicRules => (node.logic ??= new LogicRules());

const readId: Read = (walk, _node, value) => {
  const id = readString(walk, value);
  if (walk.dialect.bit !== DIALECT.draft07 && /#./s.test(id)) {
    walk.fail("must not have a fragment");
  }
};

const readAnchor: Read = (walk, _node, value) => {
  const shape =
    walk.dialect.bit === DIALECT.draft2019
      ? /^[A-Za-z][-A-Za-z0-9.:_]*$/
      : /^[A-Za-z_][-A-Za-z0-9._]*$/;
  if (!shape.test(readString(walk, value))) walk.fail("must be a plain name");
};

const readRecursiveAnchor: Read = (walk, node, value, schema) => {
  if (walk.dialect.bit === DIALECT.draft2019) readBoolean(walk, value);
  else readAnchor(walk, node, value, schema);
};

const readRecursiveRef: Read = (walk, node, value) => {
  const text = readString(walk, value);
  if (walk.dialect.bit === DIALECT.draft2019) walk.reference(node, text, true);
};

const readDynamicRef: Read = (walk, node, value) => {
  walk.reference(node, readString(walk, value), true);
};

const readVocabulary: Read = (walk, _node, value) => {
  for (const [uri, needed] of Object.entries(readObject(walk, value))) {
    if (typeof needed !== "boolean") walk.fail("must be a boolean", uri);
  }
};

const KIND_NAMES: ReadonlyMap<string, number> = new Map(
  Object.entries(KIND).filter(([name]) => name !== "none"),
);

const readType: Read = (walk, node, value) => {
  if (Array.isArray(value) && value.length === 0) walk.fail("must not be empty");
  const names = Array.isArray(value) ? readNames(walk, value) : [readString(walk, value)];
  for (const [index, name] of names.entries()) {
    const kind = KIND_NAMES.get(name);
    if (kind === undefined) walk.fail(UNKNOWN_TYPE, ...(Array.isArray(value) ? [index] : []));
    else node.kinds |= kind;
  }
  node.kindText = names.join(",");
};

function readSchema(walk: Walk, value: unknown): SchemaNode {
  return walk.schema(value);
}

function readPattern(walk: Walk, value: unknown): Pattern {
  return walk.pattern(readString(walk, value));
}

function readMembers(walk: Walk, value: unknown): ValueSet {
  return readValues(walk, readArray(walk, value));
}

function readValues(walk: Walk, members: readonly unknown[]): ValueSet {
  return ValueSet.of(members) ?? walk.fail("is nested too deep");
}

const UNKNOWN_TYPE = "must be one of array, boolean, integer, null, number, object and string";

const readMultipleOf: Read = (walk, node, value) => {
  const divisor = readNumber(walk, value);
  if (divisor <= 0) walk.fail("must be greater than 0");
  const rules = numbersOf(node);
  rules.multipleOf = divisor;
  if (!Number.isInteger(divisor) && Number.isFinite(divisor)) rules.divisor = toDecimal(divisor);
};

const readPrefixItems: Read = (walk, node, value) => {
  const rules = arraysOf(node);
  rules.prefix = readSchemas(walk, value);
  rules.tuple = true;
};

const readItems: Read = (walk, node, value, schema) => {
  const rules = arraysOf(node);
  const { bit, lenient } = walk.dialect;
  if (!Array.isArray(value)) {
    rules.rest = walk.schema(value);
    return;
  }
  const mayBeTuple =
    bit !== DIALECT.draft2020 || (lenient && !Object.hasOwn(schema, "prefixItems"));
  if (!mayBeTuple) walk.fail("must be a schema; a list of schemas goes under prefixItems");
  rules.prefix = lenient && value.length === 0 ? [] : readSchemas(walk, value);
  rules.tuple = true;
};

const readAdditionalItems: Read = (walk, node, value, schema) => {
  if (walk.dialect.bit === DIALECT.draft2020 && !walk.dialect.lenient) return;
  const rest = walk.schema(value);
  // Without a tuple there are no additional items.
  if (!Array.isArray(ownValue(schema, "items"))) return;
  const rules = arraysOf(node);
  rules.rest = rest;
  rules.restFirst = true;
};

const readContains: Read = (walk, node, value) => {
  const rules = arraysOf(node);
  rules.contains = walk.schema(value);
  rules.containsEvaluates = walk.dialect.bit === DIALECT.draft2020;
};

const readPatternProperties: Read = (walk, node, value) => {
  const rules = objectsOf(node);
  rules.patterns = Object.entries(readObject(walk, value)).map(([source, schema]) => ({
    pattern: walk.pattern(source, source),
    node: walk.child(source, schema),
  }));
};

const readDependencies: Read = (walk, node, value) => {
  const dependents = new Dependents();
  for (const [name, dependency] of Object.entries(readObject(walk, value))) {
    if (Array.isArray(dependency)) {
      dependents.required.push({ name, names: readNames(walk, dependency, name) });
    } else {
      dependents.schemas.push({ name, node: walk.child(name, dependency) });
    }
  }
  objectsOf(node).dependencies = dependents;
};

const readDependentRequired: Read = (walk, node, value) => {
  const rules = objectsOf(node);
  rules.dependents ??= new Dependents();
  for (const [name, names] of Object.entries(readObject(walk, value))) {
    rules.dependents.required.push({ name, names: readNames(walk, names, name) });
  }
};

const readDependentSchemas: Read = (walk, node, value) => {
  const rules = objectsOf(node);
  rules.dependents ??= new Dependents();
  rules.dependents.schemas.push(...readSchemaMap(walk, value));
};

/** Makes a reader that puts what it reads into one field of a group of the node's rules. */
function into<Rules, Key extends keyof Rules>(
  rulesOf: (node: SchemaNode) => Rules,
  key: Key,
  read: (walk: Walk, value: unknown) => Rules[Key],
): Read {
  return (walk, node, value) => {
    rulesOf(node)[key] = read(walk, value);
  };
}

type Row = readonly [name: string, dialects: number, kinds: number, read: Read];

const CORE: readonly Row[] = [
  ["$id", SINCE_07, 0, readId],
  ["$schema", SINCE_07, 0, onlyString],
  [
    "$ref",
    SINCE_07,
    0,
    (walk, node, value) => walk.reference(node, readString(walk, value), false),
  ],
  ["$anchor", SINCE_2019, 0, readAnchor],
  ["$dynamicAnchor", SINCE_2020, 0, readAnchor],
  ["$dynamicRef", SINCE_2020, 0, readDynamicRef],
  ["$recursiveAnchor", SINCE_2019, 0, readRecursiveAnchor],
  ["$recursiveRef", SINCE_2019, 0, readRecursiveRef],
  ["$vocabulary", SINCE_2019, 0, readVocabulary],
  ["$comment", SINCE_07, 0, onlyString],
  ["$defs", SINCE_2019, 0, onlySchemaMap],
  ["definitions", SINCE_07, 0, onlySchemaMap],
];

/** Keywords that only inform; `format` is one of them. Their shape is checked all the same. */
const ANNOTATIONS: readonly Row[] = [
  ["title", SINCE_07, 0, onlyString],
  ["description", SINCE_07, 0, onlyString],
  ["deprecated", SINCE_2019, 0, onlyBoolean],
  ["readOnly", SINCE_07, 0, onlyBoolean],
  ["writeOnly", SINCE_07, 0, onlyBoolean],
  ["examples", SINCE_07, 0, onlyArray],
  ["format", SINCE_07, KIND.number | KIND.string, onlyString],
  ["contentEncoding", SINCE_07, 0, onlyString],
  ["contentMediaType", SINCE_07, 0, onlyString],
  ["contentSchema", SINCE_2019, 0, onlySchema],
];

const FOR_ANY_KIND: readonly Row[] = [
  ["type", SINCE_07, 0, readType],
  ["const", SINCE_07, 0, into(logicOf, "constant", (walk, value) => readValues(walk, [value]))],
  ["enum", SINCE_07, 0, into(logicOf, "enumeration", readMembers)],
  ["not", SINCE_07, 0, into(logicOf, "not", readSchema)],
  ["anyOf", SINCE_07, 0, into(logicOf, "anyOf", readSchemas)],
  ["oneOf", SINCE_07, 0, into(logicOf, "oneOf", readSchemas)],
  ["allOf", SINCE_07, 0, into(logicOf, "allOf", readSchemas)],
  ["if", SINCE_07, 0, into(logicOf, "condition", readSchema)],
  ["then", SINCE_07, 0, into(logicOf, "whenTrue", readSchema)],
  ["else", SINCE_07, 0, into(logicOf, "whenFalse", readSchema)],
];

const FOR_NUMBERS: readonly Row[] = [
  ["maximum", SINCE_07, KIND.number, into(numbersOf, "maximum", readNumber)],
  ["minimum", SINCE_07, KIND.number, into(numbersOf, "minimum", readNumber)],
  ["exclusiveMaximum", SINCE_07, KIND.number, into(numbersOf, "exclusiveMaximum", readNumber)],
  ["exclusiveMinimum", SINCE_07, KIND.number, into(numbersOf, "exclusiveMinimum", readNumber)],
  ["multipleOf", SINCE_07, KIND.number, readMultipleOf],
];

const FOR_STRINGS: readonly Row[] = [
  ["maxLength", SINCE_07, KIND.string, into(stringsOf, "maxLength", readCount)],
  ["minLength", SINCE_07, KIND.string, into(stringsOf, "minLength", readCount)],
  ["pattern", SINCE_07, KIND.string, into(stringsOf, "pattern", readPattern)],
];

const FOR_ARRAYS: readonly Row[] = [
  ["maxItems", SINCE_07, KIND.array, into(arraysOf, "maxItems", readCount)],
  ["minItems", SINCE_07, KIND.array, into(arraysOf, "minItems", readCount)],
  ["prefixItems", SINCE_2020, KIND.array, readPrefixItems],
  ["items", SINCE_07, KIND.array, readItems],
  ["additionalItems", SINCE_07, KIND.array, readAdditionalItems],
  ["contains", SINCE_07, KIND.array, readContains],
  ["minContains", SINCE_2019, KIND.array, into(arraysOf, "minContains", readCount)],
  ["maxContains", SINCE_2019, KIND.array, into(arraysOf, "maxContains", readCount)],
  ["uniqueItems", SINCE_07, KIND.array, into(arraysOf, "unique", readBoolean)],
  ["unevaluatedItems", SINCE_2019, KIND.array, into(arraysOf, "unevaluated", readSchema)],
];

const FOR_OBJECTS: readonly Row[] = [
  ["maxProperties", SINCE_07, KIND.object, into(objectsOf, "maxProperties", readCount)],
  ["minProperties", SINCE_07, KIND.object, into(objectsOf, "minProperties", readCount)],
  ["required", SINCE_07, KIND.object, into(objectsOf, "required", readNames)],
  ["propertyNames", SINCE_07, KIND.object, into(objectsOf, "propertyNames", readSchema)],
  ["properties", SINCE_07, KIND.object, into(objectsOf, "properties", readSchemaMap)],
  ["patternProperties", SINCE_07, KIND.object, readPatternProperties],
  ["additionalProperties", SINCE_07, KIND.object, into(objectsOf, "additional", readSchema)],
  ["dependencies", SINCE_07, KIND.object, readDependencies],
  ["dependentRequired", SINCE_2019, KIND.object, readDependentRequired],
  ["dependentSchemas", SINCE_2019, KIND.object, readDependentSchemas],
  ["unevaluatedProperties", SINCE_2019, KIND.object, into(objectsOf, "unevaluated", readSchema)],
];

/** Every keyword that Relay knows, by name. */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(
  [CORE, ANNOTATIONS, FOR_ANY_KIND, FOR_NUMBERS, FOR_STRINGS, FOR_ARRAYS, FOR_OBJECTS]
    .flat()
    .map(([name, dialects, kinds, read]) => [name, { dialects, kinds, read }]),
);
