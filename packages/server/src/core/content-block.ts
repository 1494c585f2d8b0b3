import { aNumber, aString, anObject, fields, listOf, oneOf, rule } from "./json-shape.ts";
import type { Shape } from "./json-shape.ts";

/** A display icon of a tool or a resource link, as MCP 2025-11-25 has it. */
export const iconShape = fields(
  { src: aString },
  { mimeType: aString, sizes: listOf(aString), theme: oneOf("light", "dark") },
);

const annotations = fields(
  {},
  {
    audience: listOf(oneOf("user", "assistant")),
    priority: rule(
      (value) => typeof value === "number" && value >= 0 && value <= 1,
      "must be a number from 0 to 1",
    ),
    lastModified: rule(
      (value) => typeof value === "string" && isDateTime(value),
      "must be an ISO 8601 date and time with Z or an offset",
    ),
  },
);

const base64 = rule(
  (value) => typeof value === "string" && isBase64(value),
  "must be a base64 string",
);

const common = { annotations, _meta: anObject };
const media = fields({ data: base64, mimeType: aString }, common);

const contents = fields({ uri: aString }, { mimeType: aString, _meta: anObject });
const withText = fields({ text: aString });
const withBlob = fields({ blob: base64 });

/** What a `resource` block embeds: a valid `text` makes it one, and so does a valid `blob`. */
const embedded: Shape = (value) => {
  const fault = contents(value);
  if (fault !== null || withText(value) === null || withBlob(value) === null) return fault;
  return { path: [], reason: 'must have a string "text" or a base64 string "blob"' };
};

const BLOCKS: ReadonlyMap<unknown, Shape> = new Map([
  ["text", fields({ text: aString }, common)],
  ["image", media],
  ["audio", media],
  [
    "resource_link",
    fields(
      { name: aString, uri: aString },
      {
        title: aString,
        icons: listOf(iconShape),
        description: aString,
        mimeType: aString,
        size: aNumber,
        ...common,
      },
    ),
  ],
  ["resource", fields({ resource: embedded }, common)],
]);

const typed = fields({ type: oneOf("text", "image", "audio", "resource_link", "resource") });

/**
 * A block of a result's `content`, restated from the official SDK's `ContentBlockSchema`: one bad
 * block makes a host throw the whole answer away (SPEC 5). Fields it does not name pass, since
 * clients drop them.
 */
export const contentBlock: Shape = (value) => {
  const fault = typed(value);
  if (fault !== null) return fault;
  // `typed` has made sure of an object with one of these types.
  const shape = BLOCKS.get((value as { readonly type: unknown }).type);
  return shape === undefined ? null : shape(value);
};

/** Judges as `atob` does, with which clients test: blanks may stand anywhere, padding may lack. */
function isBase64(text: string): boolean {
  const data = /[\t\n\f\r ]/.test(text) ? text.replaceAll(/[\t\n\f\r ]/g, "") : text;
  let length = data.length;
  if (length % 4 === 0) length -= data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return length % 4 !== 1 && !/[^A-Za-z0-9+/]/.test(data.slice(0, length));
}

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

function isDateTime(text: string): boolean {
  const [matched, year, month, day] = DATE_TIME.exec(text) ?? [];
  if (matched === undefined) return false;
  return Number(day) >= 1 && Number(day) <= daysOf(Number(year), Number(month));
}

/** The days of a month of the Gregorian calendar; 0 where there is no such month. */
function daysOf(year: number, month: number): number {
  if (month < 1 || month > 12) return 0;
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
