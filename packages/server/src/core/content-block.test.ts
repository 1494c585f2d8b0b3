import assert from "node:assert/strict";
import { test } from "node:test";
import { contentBlock } from "./content-block.ts";
import { placeText } from "./schema/place.ts";

function faultOf(block: unknown): string | null {
  const fault = contentBlock(block);
  return fault === null ? null : `${placeText(fault.path)} ${fault.reason}`.trim();
}

const text = { type: "text", text: "hi" };
const image = { type: "image", data: "aGk=", mimeType: "image/png" };
const link = { type: "resource_link", name: "n", uri: "x:y" };
const resource = { type: "resource", resource: { uri: "x:y", text: "t" } };

test("each of the five kinds of block is accepted, with everything it may carry", () => {
  const annotations = { audience: ["user"], priority: 0.5, lastModified: "2026-02-28T10:00:00Z" };
  const icons = [{ src: "s", mimeType: "image/png", sizes: ["48x48"], theme: "dark" }];
  const extra = { annotations, _meta: { any: null } };
  const blocks = [
    text,
    { ...text, ...extra, text: "" },
    { ...image, ...extra },
    { ...image, ...extra, type: "audio" },
    link,
    { ...link, ...extra, icons, title: "t", description: "d", mimeType: "m", size: 1.5 },
    resource,
    { ...resource, ...extra },
    { type: "resource", resource: { uri: "", blob: "", mimeType: "m", _meta: {} } },
  ];
  for (const block of blocks) assert.equal(faultOf(block), null, JSON.stringify(block));
});

test("fields that MCP does not name pass, whatever they hold", () => {
  assert.equal(faultOf({ ...text, other: null, constructor: 1, ["__proto__"]: [] }), null);
});

const FAULTS: readonly (readonly [unknown, string])[] = [
  [null, "must be an object"],
  ["text", "must be an object"],
  [[text], "must be an object"],
  [{}, 'type must be "text", "image", "audio", "resource_link" or "resource"'],
  [
    { type: "video", data: "" },
    'type must be "text", "image", "audio", "resource_link" or "resource"',
  ],
  [{ type: "text" }, "text must be a string"],
  [{ ...text, text: 5 }, "text must be a string"],
  [{ ...text, _meta: null }, "_meta must be an object"],
  [{ ...text, _meta: [] }, "_meta must be an object"],
  [{ ...text, annotations: null }, "annotations must be an object"],
  [
    { ...text, annotations: { audience: ["user", "system"] } },
    'annotations.audience[1] must be "user" or "assistant"',
  ],
  [
    { ...text, annotations: { priority: 1.1 } },
    "annotations.priority must be a number from 0 to 1",
  ],
  [
    { ...text, annotations: { lastModified: "2026-02-28" } },
    "annotations.lastModified must be an ISO 8601 date and time with Z or an offset",
  ],
  [{ type: "image", data: "aGk=" }, "mimeType must be a string"],
  [{ ...image, data: "a*b=" }, "data must be a base64 string"],
  [{ ...image, type: "audio", data: null }, "data must be a base64 string"],
  [{ ...link, name: undefined }, "name must be a string"],
  [{ ...link, uri: 1 }, "uri must be a string"],
  [{ ...link, size: "5" }, "size must be a number, and not an infinite one"],
  [{ ...link, size: Infinity }, "size must be a number, and not an infinite one"],
  [{ ...link, icons: {} }, "icons must be an array"],
  [{ ...link, icons: [{ src: "s" }, {}] }, "icons[1].src must be a string"],
  [{ ...link, icons: [{ src: "s", theme: "blue" }] }, 'icons[0].theme must be "light" or "dark"'],
  [{ type: "resource" }, "resource must be an object"],
  [{ type: "resource", resource: { text: "t" } }, "resource.uri must be a string"],
  [
    { type: "resource", resource: { uri: "x:y" } },
    'resource must have a string "text" or a base64 string "blob"',
  ],
  [
    { type: "resource", resource: { uri: "x:y", blob: "*" } },
    'resource must have a string "text" or a base64 string "blob"',
  ],
];

test("what a client would not parse is refused with its place", () => {
  for (const [block, expected] of FAULTS) assert.equal(faultOf(block), expected);
});

test("a resource needs only one of text and blob to be right", () => {
  const uri = "x:y";
  assert.equal(faultOf({ type: "resource", resource: { uri, text: 5, blob: "aGk=" } }), null);
  assert.equal(faultOf({ type: "resource", resource: { uri, text: "t", blob: "*" } }), null);
});

test("base64 is what atob decodes", () => {
  const pieces = ["", "a", "ab", "abc", "abcd", "=", "==", " ", "\t", "\n", "\f", "\r", "\v", "*"];
  pieces.push("-", "_", "+", "/", "Z9", "\u00a0", "\u00e9", "\u{1f600}", "\0");
  for (const first of pieces) {
    for (const second of pieces) {
      for (const third of pieces) {
        const data = first + second + third;
        assert.equal(faultOf({ ...image, data }) === null, decodes(data), JSON.stringify(data));
      }
    }
  }
});

function decodes(data: string): boolean {
  try {
    atob(data);
    return true;
  } catch {
    return false;
  }
}

test("a date and time follows the calendar", () => {
  const right = [
    "2024-02-29T00:00:00Z",
    "2000-02-29T23:59:59.123456+23:59",
    "0000-02-29T00:00:00Z",
  ];
  right.push("2026-12-31T10:00:00-00:00", "2026-04-30T10:00:00Z");
  for (const time of right) assert.ok(acceptsTime(time), time);
  const wrong = ["2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-13-01T00:00:00Z"];
  wrong.push("2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-04-31T00:00:00Z");
  wrong.push("2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z");
  wrong.push("2026-01-01T00:00Z", "2026-01-01T00:00:00", "2026-01-01 00:00:00Z");
  wrong.push("2026-01-01T00:00:00z", "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00Z\n");
  wrong.push("2026-01-01T00:00:00.Z", "26-01-01T00:00:00Z", "2026-01-01T00:00:00+24:00", "");
  for (const time of wrong) assert.ok(!acceptsTime(time), time);
});

function acceptsTime(lastModified: string): boolean {
  return faultOf({ ...text, annotations: { lastModified } }) === null;
}
