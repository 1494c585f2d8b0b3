import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { APP_FRAME_SCHEMAS, RELAY_FRAME_SCHEMAS, parseAppFrame } from "./index.ts";

const ajv = new Ajv2020({ strict: false });

test("every example fits its schema", () => {
  for (const { name, schema, example } of [
    ...Object.values(APP_FRAME_SCHEMAS),
    ...Object.values(RELAY_FRAME_SCHEMAS),
  ]) {
    assert.ok(ajv.validate(schema, example), `${name}: ${ajv.errorsText()}`);
  }
});

test("the parser and the schemas know the same frames, and read each other's", () => {
  for (const [type, { example }] of Object.entries(APP_FRAME_SCHEMAS)) {
    const parsed = parseAppFrame(example);
    assert.ok("frame" in parsed, type);
    assert.equal(parsed.frame.type, type);
  }
});

test("a field of the wrong type is refused by the parser and the schema alike", () => {
  const wrong = [
    { ...APP_FRAME_SCHEMAS["hello"]?.example, tools: {} },
    { ...APP_FRAME_SCHEMAS["hello"]?.example, app: null },
    { ...APP_FRAME_SCHEMAS["progress"]?.example, progress: "1" },
    { ...APP_FRAME_SCHEMAS["link.pause"]?.example, id: "" },
    { type: "result" },
  ];
  for (const frame of wrong) {
    const schema = APP_FRAME_SCHEMAS[String(frame["type"])]?.schema ?? {};
    assert.equal(ajv.validate(schema, frame), false, JSON.stringify(frame));
    assert.ok("fault" in parseAppFrame(frame), JSON.stringify(frame));
  }
});
