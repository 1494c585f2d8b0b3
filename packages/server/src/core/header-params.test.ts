import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkHeaderParams, decodeHeaderValue, readHeaderParams } from "./header-params.ts";

/** An input schema with one property `a` that is `schema`. */
function object(schema: object): object {
  return { type: "object", properties: { a: schema } };
}

function faultOf(inputSchema: unknown): string {
  const read = readHeaderParams(inputSchema);
  assert.ok(!read.ok, `a fault in ${JSON.stringify(inputSchema)}`);
  return `${read.path} ${read.reason}`;
}

const region = { type: "string", "x-mcp-header": "Region" };

describe("x-mcp-header annotations", () => {
  test("a schema without any has no parameters, whatever it is", () => {
    for (const schema of [{}, { type: "object" }, object({ type: "string" }), true, null, 5, []]) {
      assert.deepEqual(readHeaderParams(schema), { ok: true, params: [] });
    }
  });

  test("they are found on strings, integers and booleans, at any depth of properties", () => {
    const schema = {
      type: "object",
      properties: {
        region,
        filter: {
          type: "object",
          properties: {
            year: { type: "integer", "x-mcp-header": "X-Year" },
            ["__proto__"]: { properties: { deep: { type: "boolean", "x-mcp-header": "deep!" } } },
          },
        },
      },
    };
    assert.deepEqual(readHeaderParams(schema), {
      ok: true,
      params: [
        { header: "Mcp-Param-Region", path: ["region"], type: "string" },
        { header: "Mcp-Param-X-Year", path: ["filter", "year"], type: "integer" },
        { header: "Mcp-Param-deep!", path: ["filter", "__proto__", "deep"], type: "boolean" },
      ],
    });
  });

  test("no other type may carry one", () => {
    for (const type of [
      "number",
      "object",
      "array",
      "null",
      ["string"],
      ["string", "null"],
      undefined,
    ]) {
      assert.equal(
        faultOf(object({ type, "x-mcp-header": "Region" })),
        'properties.a["x-mcp-header"] may stand only on properties of type string, integer or boolean',
      );
    }
  });

  test("the name is an HTTP token", () => {
    for (const name of [
      "",
      " ",
      "a b",
      "a:b",
      "a\r\nb",
      "Zürich",
      "a/b",
      "a\n",
      "(a)",
      5,
      null,
      ["a"],
    ]) {
      assert.equal(
        faultOf(object({ type: "string", "x-mcp-header": name })),
        'properties.a["x-mcp-header"] must be an HTTP header name',
      );
    }
    assert.ok(
      readHeaderParams(object({ type: "string", "x-mcp-header": "!#$%&'*+-.^_`|~09AZaz" })).ok,
    );
  });

  test("a name is used once, in any case of its letters", () => {
    const schema = {
      properties: { a: region, b: { properties: { c: { ...region, "x-mcp-header": "REGION" } } } },
    };
    assert.equal(
      faultOf(schema),
      'properties.b.properties.c["x-mcp-header"] must not be used twice, in any case',
    );
  });

  test("one that is not reached through properties alone is refused where it stands", () => {
    const rows: readonly (readonly [schema: object, path: string])[] = [
      [region, ""],
      [{ items: region }, "items"],
      [
        { properties: { a: { items: { properties: { b: region } } } } },
        "properties.a.items.properties.b",
      ],
      [{ items: [{}, region] }, "items[1]"],
      [{ prefixItems: [region] }, "prefixItems[0]"],
      [{ additionalItems: region }, "additionalItems"],
      [{ contains: region }, "contains"],
      [{ unevaluatedItems: region }, "unevaluatedItems"],
      [{ additionalProperties: region }, "additionalProperties"],
      [{ unevaluatedProperties: region }, "unevaluatedProperties"],
      [{ propertyNames: region }, "propertyNames"],
      [{ patternProperties: { "^a": region } }, 'patternProperties["^a"]'],
      [{ dependentSchemas: { a: region } }, "dependentSchemas.a"],
      [{ dependencies: { a: region, b: ["a"] } }, "dependencies.a"],
      [{ allOf: [object(region)] }, "allOf[0].properties.a"],
      [{ anyOf: [{}, region] }, "anyOf[1]"],
      [{ oneOf: [region] }, "oneOf[0]"],
      [{ not: region }, "not"],
      [{ if: region }, "if"],
      [JSON.parse(`{"then":${JSON.stringify(region)}}`), "then"],
      [{ else: region }, "else"],
      [{ contentSchema: region }, "contentSchema"],
      [{ $defs: { a: region } }, "$defs.a"],
      [{ definitions: { a: object(region) } }, "definitions.a.properties.a"],
    ];
    for (const [schema, path] of rows) {
      const reason = "may stand only on properties that are reached through properties alone";
      const place = path === "" ? '["x-mcp-header"]' : `${path}["x-mcp-header"]`;
      assert.equal(faultOf(schema), `${place} ${reason}`);
    }
  });

  test("what only looks like one is no annotation", () => {
    const schema = {
      type: "object",
      properties: {
        "x-mcp-header": { type: "string" },
        a: { enum: [region], const: region, default: region, examples: [region] },
      },
      "x-other": { properties: { b: region } },
      dependentRequired: { a: ["x-mcp-header"] },
    };
    assert.deepEqual(readHeaderParams(schema), { ok: true, params: [] });
  });

  test("many of them are read in time that grows with their number", () => {
    const many = Array.from({ length: 20_000 }, (_, index) => [
      `p${index}`,
      { type: "string", "x-mcp-header": `H${index}` },
    ]);
    const read = readHeaderParams({ properties: Object.fromEntries(many) });
    assert.ok(read.ok && read.params.length === 20_000);
  });
});

describe("Mcp-Param headers", () => {
  const read = readHeaderParams({
    properties: {
      region,
      filter: {
        properties: {
          year: { type: "integer", "x-mcp-header": "Year" },
          open: { type: "boolean", "x-mcp-header": "Open" },
        },
      },
    },
  });
  assert.ok(read.ok);

  const { params } = read;

  function refusal(args: Record<string, unknown>, sent: Record<string, string>): string | null {
    const call = { idText: "7", argumentsValue: args };
    const answer = checkHeaderParams(params, call, { get: (name) => sent[name] ?? null });
    if (answer === null) return null;
    const { jsonrpc, id, error } = JSON.parse(answer.body);
    assert.deepEqual([answer.status, jsonrpc, id, error.code], [400, "2.0", 7, -32020]);
    return error.message;
  }

  test("a value needs a header that says the same", () => {
    const sent = { "mcp-param-region": "eu", "mcp-param-year": "2026", "mcp-param-open": "true" };
    const args = { region: "eu", filter: { year: 2026, open: true } };
    assert.equal(refusal(args, sent), null);
    for (const [name, header] of [
      ["mcp-param-region", "Mcp-Param-Region"],
      ["mcp-param-year", "Mcp-Param-Year"],
      ["mcp-param-open", "Mcp-Param-Open"],
    ] as const) {
      const { [name]: _, ...others } = { ...sent };
      assert.equal(refusal(args, others), `Header mismatch: ${header} is missing`);
      const differs = `Header mismatch: ${header} differs from the argument`;
      assert.equal(refusal(args, { ...sent, [name]: "7" }), differs);
    }
  });

  test("an absent or null value needs none, and one that is there is not looked at", () => {
    for (const args of [
      {},
      { region: null },
      { filter: 5 },
      { filter: null },
      { filter: { year: null } },
    ]) {
      assert.equal(refusal(args, {}), null);
      assert.equal(refusal(args, { "mcp-param-region": "us", "mcp-param-year": "?" }), null);
    }
  });

  test("a value of another type is left to the schema", () => {
    for (const args of [
      { region: 5 },
      { region: {} },
      { filter: { year: "2026", open: "true" } },
    ]) {
      assert.equal(refusal(args, {}), null);
    }
    assert.equal(refusal({ filter: { year: 1.5 } }, {}), null);
  });

  test("only the arguments' own members count", () => {
    const call = { idText: "1", argumentsValue: Object.create({ region: "eu" }) };
    assert.equal(checkHeaderParams(params, call, { get: () => null }), null);
  });

  test("integers are compared as numbers", () => {
    const rows = [
      [42, "42", true],
      [42, "42.0", true],
      [42, "42.000", true],
      [42, "042", true],
      [-7, "-7", true],
      [0, "0", true],
      [0, "-0", true],
      [9_007_199_254_740_991, "9007199254740991", true],
      [9_007_199_254_740_992, "9007199254740992", false],
      [42, "42.5", false],
      [42, "43", false],
      [42, "4.2e1", false],
      [42, "+42", false],
      [42, "0x2a", false],
      [42, "42.", false],
      [42, "4 2", false],
      [0, "", false],
      [42, "=?base64?NDI=?=", true],
    ] as const;
    for (const [year, header, agrees] of rows) {
      const message = refusal({ filter: { year } }, { "mcp-param-year": header });
      assert.equal(message === null, agrees, `${year} and ${header}`);
    }
  });

  test("strings and booleans are compared as written, but for the blanks around a header", () => {
    const rows = [
      [{ region: "eu" }, { "mcp-param-region": " eu\t" }, true],
      [{ region: "eu" }, { "mcp-param-region": "EU" }, false],
      [{ region: "" }, { "mcp-param-region": "" }, true],
      [{ region: " eu " }, { "mcp-param-region": " eu " }, false],
      [{ region: " eu " }, { "mcp-param-region": "=?base64?IGV1IA==?=" }, true],
      [{ region: "42" }, { "mcp-param-region": "42.0" }, false],
      [{ filter: { open: false } }, { "mcp-param-open": "false" }, true],
      [{ filter: { open: false } }, { "mcp-param-open": "False" }, false],
      [{ filter: { open: true } }, { "mcp-param-open": "1" }, false],
    ] as const;
    for (const [args, sent, agrees] of rows) {
      assert.equal(refusal(args, sent) === null, agrees, JSON.stringify(sent));
    }
    const malformed = refusal({ region: "Hello" }, { "mcp-param-region": "=?base64?SGVsbG8?=" });
    assert.equal(malformed, "Header mismatch: Mcp-Param-Region is not properly encoded");
  });
});

describe("the encoding of header values", () => {
  test("the examples of the specification decode to their values", () => {
    const rows = [
      ["us-west1", "us-west1"],
      ["=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"],
      ["=?base64?IHBhZGRlZCA=?=", " padded "],
      ["=?base64?bGluZTEKbGluZTI=?=", "line1\nline2"],
      ["=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="],
    ] as const;
    for (const [header, value] of rows) assert.equal(decodeHeaderValue(header), value);
  });

  test("without both markers a value is plain", () => {
    for (const value of [
      "SGVsbG8=",
      "=?base64?SGVsbG8=",
      "SGVsbG8=?=",
      "=?base64?=",
      "=?Base64?YQ==?=",
      "",
    ]) {
      assert.equal(decodeHeaderValue(value), value);
    }
  });

  test("Base64 that is not canonical, or not UTF-8, decodes to nothing", () => {
    const bad =
      "SGVsbG8 SGVs!!!bG8= SGVsbG9= YQ=== YR== = a literal _-8= gA== 7aCA wIA= ////".split(" ");
    const payloads = [...bad, "SGVs bG8=", "SGVsbG8=	"];
    for (const payload of payloads) assert.equal(decodeHeaderValue(`=?base64?${payload}?=`), null);
  });

  test("a byte-order mark is part of the value, and no value at all is one too", () => {
    assert.equal(decodeHeaderValue("=?base64?77u/YQ==?="), "\ufeffa");
    assert.equal(decodeHeaderValue("=?base64??="), "");
  });

  test("plain values hold nothing but visible ASCII, blanks and tabs", () => {
    for (const value of ["caf\u00e9", "a\u0000", "a\u007f", "a\nb", "\u0080"]) {
      assert.equal(decodeHeaderValue(value), null);
    }
    assert.equal(decodeHeaderValue("a \t~!"), "a \t~!");
  });
});
