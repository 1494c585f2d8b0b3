/** JSON values of every shape, for putting where a keyword does not want them. */
export const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  2.0,
  1.5,
  -1,
  "",
  "x",
  "#",
  "a b",
  "_x",
  "a#b",
  "string",
  "none",
  "^a$",
  [],
  [1],
  ["x"],
  ["x", "x"],
  ["string", "null"],
  ["string", "string"],
  [true],
  [{}],
  [{ type: 5 }],
  [[]],
  {},
  { x: true },
  { x: false },
  { x: {} },
  { x: 1 },
  { x: ["a"] },
  { x: ["a", "a"] },
  { x: { type: 5 } },
  { type: "string" },
  { type: "strin" },
  { minLength: -1 },
];

/** What Relay refuses although a meta-schema allows it: the beginnings of the reasons. */
export const RELAY_LIMITS: readonly string[] = [
  "refers to another document",
  "refers to nothing in this schema",
  "is not a well-formed reference",
  "repeats an $id of this schema",
  "repeats an anchor of this schema",
  "names an unsupported JSON Schema dialect",
];

/**
 * Keywords whose shape Ajv's copy of a meta-schema narrows beyond the specification: draft-07 says
 * that the values of `enum` SHOULD be some and different, and its published meta-schema leaves it at
 * that; Ajv's does not.
 */
export const AJV_NARROWS: readonly string[] = ["enum"];

/** Keywords that the published draft-07 meta-schema knows and Ajv's copy of it does not. */
export const AJV_LACKS: readonly string[] = ["writeOnly"];
