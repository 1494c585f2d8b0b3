import { nest, record, times } from "./repeat.ts";

const KIB = 1024;

/** Schemas that must be refused, by what is wrong with them. */
export const HOSTILE_SCHEMAS: Readonly<Record<string, unknown>> = {
  "not nested 3,000 deep": nest(3_000, true, (not) => ({ not })),
  "items nested 65 deep": nest(65, {}, (items) => ({ items })),
  "20,000 sub-schemas": { anyOf: times(20_000, () => ({})) },
  "2,000 references": { anyOf: times(2_000, () => ({ $ref: "#/$defs/a" })), $defs: { a: true } },
  "100 ids": { $defs: record(100, (at) => [`d${at}`, { $id: `s${at}` }]) },
  "colliding ids": { $defs: { a: { $id: "same", type: "string" }, b: { $id: "./x/../same" } } },
  "colliding anchors": { $defs: { a: { $anchor: "same" }, b: { $dynamicAnchor: "same" } } },
  "301 patterns": { allOf: times(301, (at) => ({ pattern: `^${at}$` })) },
  "patterns too large together": {
    allOf: times(40, (at) => ({ pattern: `^${at}(ab){1,1000}$` })),
  },
  "counted repeats of counted repeats": { pattern: "^((a{0,100}b){0,100}c){0,100}$" },
  "back-reference": { pattern: "^(a+)\\1$" },
  "look-behind": { pattern: "(?<=a)b" },
  "pattern of 60 KiB": { pattern: "a?".repeat(30 * KIB) },
  "remote reference": { $ref: "https://attacker.example/schema.json" },
  "file reference": { $ref: "file:///etc/passwd" },
  "reference to nothing": { $ref: "#/$defs/nowhere" },
  "pointer of 60 KiB": { $ref: `#${"/a".repeat(30 * KIB)}` },
  "pointer with a broken escape": { $ref: "#/%E0%A4%A" },
  "an id of 30 KiB under 1,000 references": {
    $id: `https://a.example/${"p/".repeat(15 * KIB)}`,
    anyOf: times(1_000, () => ({ $ref: "x" })),
  },
  "const nested 1,000 deep": { const: nest(1_000, 1, (inner) => [inner]) },
  "unknown dialect": { $schema: "http://json-schema.org/draft-04/schema#" },
  "type that is not one": { type: "strin" },
  "array for a schema": { properties: { a: [] } },
};
