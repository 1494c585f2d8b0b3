import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { countCodePoints, defaultLimits } from "@relay/protocol";
import type { Limits } from "@relay/protocol";
import { admitManifest } from "./hello.ts";
import type { Admission } from "./hello.ts";

const LIMITS = defaultLimits();

const tool = { name: "a", inputSchema: { type: "object" } };
const app = { name: "Notes", version: "1.4.2" };

/** The hello of the product spec, and its raw texts. */
const EXAMPLE = {
  app: '{  "name": "Notes",    "version": "1.4.2"  }',
  instructions: '"Notes is the person\'s local notebook."',
  tools:
    '[\n    {\r\n "name": "search_notes",      "description": "Full-text search",      "inputSchema": {        "type": "object",        "properties": {          "query": {            "type": "string"          }        },        "required": [          "query"        ]      },      "annotations": {        "readOnlyHint": true      }    }  ]',
};

type Raw = { readonly app: string; readonly instructions: string | null; readonly tools: string };

function admitRaw(raw: Raw, limits: Limits = LIMITS): Admission {
  const hello = {
    app: JSON.parse(raw.app) as unknown,
    instructions: raw.instructions === null ? undefined : (JSON.parse(raw.instructions) as unknown),
    tools: JSON.parse(raw.tools) as unknown,
  };
  return admitManifest(hello, raw, limits);
}

function admit(changes: { app?: unknown; instructions?: unknown; tools?: unknown }): Admission {
  const hello = { app, tools: [tool], ...changes };
  return admitRaw({
    app: JSON.stringify(hello.app),
    instructions: hello.instructions === undefined ? null : JSON.stringify(hello.instructions),
    tools: JSON.stringify(hello.tools),
  });
}

function refusalOf(admission: Admission): string {
  assert.ok(!admission.ok, "refused");
  return admission.message;
}

describe("a valid hello", () => {
  test("becomes a manifest with its tools as they were written, on one line", () => {
    const admission = admitRaw(EXAMPLE);
    assert.ok(admission.ok);
    assert.deepEqual(admission.manifest, {
      app: { name: "Notes", version: "1.4.2" },
      instructions: "Notes is the person's local notebook.",
      toolsText: EXAMPLE.tools.replaceAll(/[\r\n]/g, " "),
      toolCount: 1,
      warnings: [
        {
          path: "tools[0].annotations",
          message: "Without destructiveHint, openWorldHint: some hosts want each one said.",
        },
      ],
    });
    assert.equal(admission.toolbox.get("search_notes")?.name, "search_notes");
  });

  test("needs no instructions and no tools", () => {
    const admission = admit({ tools: [] });
    assert.ok(admission.ok);
    assert.deepEqual(admission.manifest, {
      app,
      instructions: null,
      toolsText: "[]",
      toolCount: 0,
      warnings: [],
    });
    assert.equal(admission.toolbox.size, 0);
  });

  test("keeps only name and version of its app", () => {
    const admission = admit({ app: { ...app, icon: "x" } });
    assert.ok(admission.ok);
    assert.deepEqual(admission.manifest.app, app);
  });
});

describe("sizes", () => {
  test("the raw texts of app, instructions and tools have 64 KiB together", () => {
    const raw = { app: JSON.stringify(app), instructions: '"\u00e9"', tools: "[]" };
    const room = 65_536 - Buffer.byteLength(raw.app + raw.instructions + raw.tools);
    assert.ok(admitRaw({ ...raw, tools: `[${" ".repeat(room)}]` }).ok);
    assert.equal(
      refusalOf(admitRaw({ ...raw, tools: `[${" ".repeat(room + 1)}]` })),
      "app, instructions and tools: at most 65536 bytes as JSON together, not 65537",
    );
  });

  test("there are at most 64 tools", () => {
    const tools = Array.from({ length: 65 }, (_, n) => ({ ...tool, name: `t${n}` }));
    assert.ok(admit({ tools: tools.slice(1) }).ok);
    assert.equal(refusalOf(admit({ tools })), "tools: at most 64 tools, not 65");
  });

  test("the limits in force are those given, and are named", () => {
    const limits = { ...LIMITS, tools: 1, manifestBytes: 100 };
    const raw = { app: JSON.stringify(app), instructions: null, tools: "[{},{}]" };
    assert.equal(refusalOf(admitRaw(raw, limits)), "tools: at most 1 tools, not 2");
    assert.equal(
      refusalOf(admitRaw({ ...raw, tools: `[${" ".repeat(99)}]` }, limits)),
      "app, instructions and tools: at most 100 bytes as JSON together, not 135",
    );
  });
});

describe("app and instructions", () => {
  const long = "\u{1f600}".repeat(64);

  test("the app has a name and a version of 1 to 64 characters, counted in code points", () => {
    assert.ok(admit({ app: { name: long, version: long } }).ok);
    for (const value of [undefined, null, 5, "", `${long}x`]) {
      assert.equal(
        refusalOf(admit({ app: { ...app, name: value } })),
        "app.name must be a string of 1 to 64 characters",
      );
      assert.equal(
        refusalOf(admit({ app: { ...app, version: value } })),
        "app.version must be a string of 1 to 64 characters",
      );
    }
    for (const value of [null, [], "Notes"]) {
      assert.equal(refusalOf(admit({ app: value })), "app must be an object");
    }
  });

  test("instructions are a string of at most 4,000 characters, counted in code points", () => {
    assert.ok(admit({ instructions: "\u{1f600}".repeat(4_000) }).ok);
    assert.equal(
      refusalOf(admit({ instructions: "x".repeat(4_001) })),
      "instructions must be at most 4000 characters",
    );
    for (const instructions of [null, 5, {}]) {
      assert.equal(refusalOf(admit({ instructions })), "instructions must be a string");
    }
  });

  test("tools is an array", () => {
    for (const tools of [null, {}, "[]"]) {
      assert.equal(refusalOf(admit({ tools })), "tools must be an array");
    }
  });
});

test("half of a surrogate pair is refused wherever it stands, with its place", () => {
  const cases: readonly (readonly [Partial<Raw>, string])[] = [
    [{ app: '{"name":"a\\ud800","version":"1"}' }, "app.name"],
    [{ app: '{"name":"a","version":"1","\\udc00":1}' }, "app"],
    [{ instructions: '"\\uD83D x"' }, "instructions"],
    [
      { tools: '[{"name":"a","inputSchema":{"type":"object"},"x":[0,"\\udfff"]}]' },
      "tools[0].x[1]",
    ],
    [
      { tools: '[{"name":"a","inputSchema":{"type":"object","\\ud800":1}}]' },
      "tools[0].inputSchema",
    ],
  ];
  for (const [changes, place] of cases) {
    const raw = { app: JSON.stringify(app), instructions: null, tools: "[]", ...changes };
    assert.equal(refusalOf(admitRaw(raw)), `${place} must not hold half of a surrogate pair`);
  }
  const pair = '[{"name":"a","inputSchema":{"type":"object"},"x":"\\ud83d\\ude00 \\\\ud800"}]';
  assert.ok(admitRaw({ app: JSON.stringify(app), instructions: null, tools: pair }).ok);
});

test("the first broken rule wins: sizes, app, instructions, surrogates, tools in their order", () => {
  const half = '[{"name":"a","x":"\\ud800"},{}]';
  const instructions = JSON.stringify("x".repeat(4_001));
  const limits = { ...LIMITS, tools: 1 };
  const raw = { app: "{}", instructions, tools: half };
  const orders: readonly (readonly [Raw, Limits, RegExp])[] = [
    [raw, { ...limits, manifestBytes: 10 }, /^app, instructions and tools: at most 10 bytes/],
    [raw, limits, /^tools: at most 1 tools/],
    [raw, LIMITS, /^app\.name/],
    [{ ...raw, app: JSON.stringify(app) }, LIMITS, /^instructions must/],
    [{ app: JSON.stringify(app), instructions: null, tools: half }, LIMITS, /^tools\[0\]\.x/],
    [{ app: JSON.stringify(app), instructions: null, tools: "[5,{}]" }, LIMITS, /^tools\[0\] must/],
  ];
  for (const [texts, set, expected] of orders) {
    assert.match(refusalOf(admitRaw(texts, set)), expected);
  }
});

test("a broken tool is named with its place", () => {
  const broken = { name: "c", inputSchema: { type: "nonsense" } };
  assert.equal(
    refusalOf(admit({ tools: [tool, { ...tool, name: "b" }, broken] })),
    "tools[2].inputSchema is not a valid JSON Schema: type must be one of array, boolean, integer, null, number, object and string",
  );
});

test("a message has at most 500 characters", () => {
  const deep = JSON.parse(
    `${'{"properties":{"'.concat("x".repeat(60), '":').repeat(20)}5${"}}".repeat(20)}`,
  );
  const message = refusalOf(admit({ tools: [{ name: "a", inputSchema: deep }] }));
  assert.equal(countCodePoints(message), 500);
});
