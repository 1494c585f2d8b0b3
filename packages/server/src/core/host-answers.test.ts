import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { META_KEYS, RPC_ERRORS } from "@relay/protocol";
import {
  disabledAnswer,
  discoverAnswer,
  initializeAnswer,
  invalidArgumentsAnswer,
  methodNotFoundAnswer,
  namelessCallAnswer,
  pingAnswer,
  progressNotification,
  rpcError,
  type ServerFacts,
  toolErrorAnswer,
  toolResultAnswer,
  toolsListAnswer,
  unknownToolAnswer,
} from "./host-answers.ts";

const legacy = { era: "legacy", idText: "3" } as const;
const modern = { era: "modern", idText: '"m"' } as const;

const TOOLS_TEXT =
  '[ {"name":"search_notes", "inputSchema":{"type":"object","minProperties":1.0}}]';
const KNOWN: ServerFacts = {
  projectName: "Notes project",
  manifest: {
    app: { name: "Notes", version: "1.4.2" },
    instructions: "Search it before answering.",
    toolsText: TOOLS_TEXT,
  },
};
const NEW: ServerFacts = { projectName: "Notes", manifest: null };
const SILENT: ServerFacts = {
  projectName: "Notes",
  manifest: { app: { name: "Notes", version: "2" }, instructions: null, toolsText: "[]" },
};

/** The result that `body` carries, once it has been seen to be one answer to `id`. */
function resultOf(body: string, id: unknown): Record<string, unknown> {
  const { jsonrpc, id: echoed, result, ...rest } = JSON.parse(body);
  assert.deepEqual([jsonrpc, echoed, rest], ["2.0", id, {}]);
  return result;
}

function errorOf(body: string, id: unknown): unknown {
  const { jsonrpc, id: echoed, error, ...rest } = JSON.parse(body);
  assert.deepEqual([jsonrpc, echoed, rest], ["2.0", id, {}]);
  return error;
}

const serverInfo = (name: string, version: string) => ({
  [META_KEYS.serverInfo]: { name, version },
});

describe("initialize", () => {
  const asked = { ...legacy, version: "2025-06-18" } as const;

  test("it answers with the version, tools and nothing else, the project's name and the app's version", () => {
    assert.deepEqual(resultOf(initializeAnswer(asked, KNOWN), 3), {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "Notes project", version: "1.4.2" },
      instructions: "Search it before answering.",
    });
  });

  test("before the first hello it asks the model to have the person open the app", () => {
    const result = resultOf(initializeAnswer(asked, NEW), 3);
    assert.deepEqual(result["serverInfo"], { name: "Notes", version: "0" });
    assert.equal(
      result["instructions"],
      "Notes has not connected yet; open it on your device and its tools appear.",
    );
  });

  test("an app without instructions has none in the answer", () => {
    assert.ok(!("instructions" in resultOf(initializeAnswer(asked, SILENT), 3)));
  });
});

describe("the other methods that are answered at once", () => {
  test("ping answers an empty object", () => {
    assert.equal(pingAnswer(legacy), '{"jsonrpc":"2.0","id":3,"result":{}}');
  });

  test("tools/list answers the stored text, every byte of it, or an empty list before a hello", () => {
    const body = toolsListAnswer(legacy, KNOWN);
    assert.equal(body, `{"jsonrpc":"2.0","id":3,"result":{"tools":${TOOLS_TEXT}}}`);
    assert.deepEqual(resultOf(toolsListAnswer(legacy, NEW), 3), { tools: [] });
  });

  test("a modern list says for how long and for whom it holds; an empty first one for no time", () => {
    assert.deepEqual(resultOf(toolsListAnswer(modern, KNOWN), "m"), {
      resultType: "complete",
      tools: JSON.parse(TOOLS_TEXT),
      ttlMs: 10_000,
      cacheScope: "private",
      _meta: serverInfo("Notes project", "1.4.2"),
    });
    assert.equal(resultOf(toolsListAnswer(modern, NEW), "m")["ttlMs"], 0);
  });

  test("server/discover names the modern versions, the tools capability and the server", () => {
    assert.deepEqual(resultOf(discoverAnswer(modern, KNOWN), "m"), {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      instructions: "Search it before answering.",
      ttlMs: 10_000,
      cacheScope: "private",
      _meta: serverInfo("Notes project", "1.4.2"),
    });
    const first = resultOf(discoverAnswer(modern, NEW), "m");
    assert.match(String(first["instructions"]), /^Notes has not connected yet;/);
    assert.equal(first["ttlMs"], 0);
    assert.ok(!("instructions" in resultOf(discoverAnswer(modern, SILENT), "m")));
  });
});

describe("answers to calls", () => {
  const ok = { contentText: '[{"type":"text","text":"3 notes"}]', structuredText: null };

  test("a result carries the app's texts as they were written", () => {
    const structuredText = '{"id":9007199254740993,"x":1.0}';
    const body = toolResultAnswer(legacy, KNOWN, { ...ok, structuredText, isError: false });
    const result = `{"content":${ok.contentText},"structuredContent":${structuredText},"isError":false}`;
    assert.equal(body, `{"jsonrpc":"2.0","id":3,"result":${result}}`);
  });

  test("a result without structuredContent has no such member", () => {
    assert.deepEqual(resultOf(toolResultAnswer(legacy, KNOWN, { ...ok, isError: true }), 3), {
      content: [{ type: "text", text: "3 notes" }],
      isError: true,
    });
  });

  test("a modern result is complete and says whose it is", () => {
    assert.deepEqual(resultOf(toolResultAnswer(modern, NEW, { ...ok, isError: false }), "m"), {
      resultType: "complete",
      content: [{ type: "text", text: "3 notes" }],
      isError: false,
      _meta: serverInfo("Notes", "0"),
    });
  });

  test("a tool error is one sentence in a result with isError", () => {
    const text = "Notes is not running on your device. Open it and try again.";
    assert.deepEqual(resultOf(toolErrorAnswer(legacy, KNOWN, text), 3), {
      content: [{ type: "text", text }],
      isError: true,
    });
  });

  test("invalid arguments are a JSON-RPC error for legacy and a tool error with its text for modern", () => {
    const why = "arguments must have required property 'query'";
    const text = `Invalid arguments for tool search_notes: ${why}`;
    const name = "search_notes";
    const forLegacy = invalidArgumentsAnswer({ ...legacy, name }, KNOWN, why);
    assert.deepEqual(errorOf(forLegacy, 3), { code: -32602, message: text });
    const forModern = invalidArgumentsAnswer({ ...modern, name }, KNOWN, why);
    const result = resultOf(forModern, "m");
    assert.deepEqual([result["isError"], result["content"]], [true, [{ type: "text", text }]]);
  });

  test("an unknown tool is named, up to 64 code points of it", () => {
    for (const [name, shown] of [
      ["nope", "nope"],
      ["😀".repeat(99), "😀".repeat(64)],
    ] as const) {
      const error = { code: -32602, message: `Unknown tool: ${shown}` };
      assert.deepEqual(errorOf(unknownToolAnswer({ ...modern, name }), "m"), error);
    }
  });

  test("a call that names no tool is told so", () => {
    const message = "Invalid params: name must be a string";
    assert.deepEqual(errorOf(namelessCallAnswer(legacy), 3), { code: -32602, message });
  });

  test("a suspended project's connector is disabled", () => {
    const error = { code: -32000, message: "This connector is disabled" };
    assert.deepEqual(errorOf(disabledAnswer(legacy), 3), error);
    assert.deepEqual(errorOf(disabledAnswer(modern), "m"), error);
  });
});

describe("a method Relay does not offer", () => {
  test("it is answered -32601 with 200 for legacy and with 404 for modern", () => {
    const method = "resources/list";
    const error = { code: -32601, message: "Method not found: resources/list" };
    const forLegacy = methodNotFoundAnswer({ ...legacy, method });
    assert.deepEqual([forLegacy.status, errorOf(forLegacy.body, 3)], [200, error]);
    const forModern = methodNotFoundAnswer({ ...modern, method });
    assert.deepEqual([forModern.status, errorOf(forModern.body, "m")], [404, error]);
  });
});

describe("progress", () => {
  test("the token comes out as it was written, and only what is known is said", () => {
    assert.equal(
      progressNotification("1.0", { progress: 0.5, total: null, message: null }),
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1.0,"progress":0.5}}',
    );
    const full = JSON.parse(
      progressNotification('"t"', { progress: 50, total: 100, message: "half\nway" }),
    );
    assert.deepEqual(full.params, {
      progressToken: "t",
      progress: 50,
      total: 100,
      message: "half\nway",
    });
    assert.ok(!("id" in full));
  });
});

describe("errors", () => {
  test("every code is that of the table, and an id that is not known is left out", () => {
    for (const [name, { code }] of Object.entries(RPC_ERRORS)) {
      // The table's own keys.
      const body = rpcError(null, name as keyof typeof RPC_ERRORS, "why");
      assert.equal(body, `{"jsonrpc":"2.0","error":{"code":${code},"message":"why"}}`);
    }
    assert.equal(
      rpcError('"\\u0031"', "unsupportedVersion", "why", '{"supported":[]}'),
      '{"jsonrpc":"2.0","id":"\\u0031","error":{"code":-32022,"message":"why","data":{"supported":[]}}}',
    );
  });
});

describe("every answer", () => {
  test("it is JSON on one line, with no half of a surrogate pair, whatever the names and texts", () => {
    const evil = 'a"\\\r\n\u2028\u0000\ud800</script>';
    const evilOut = evil.toWellFormed();
    const facts: ServerFacts = {
      projectName: evil,
      manifest: { app: { name: evil, version: evil }, instructions: evil, toolsText: "[]" },
    };
    for (const asked of [legacy, modern]) {
      const named = { ...asked, name: evil, method: evil, version: "2025-11-25" } as const;
      const bodies = [
        initializeAnswer(named, facts),
        initializeAnswer(named, { ...facts, manifest: null }),
        pingAnswer(asked),
        toolsListAnswer(asked, facts),
        discoverAnswer(asked, facts),
        toolErrorAnswer(asked, facts, evil),
        invalidArgumentsAnswer(named, facts, evil),
        unknownToolAnswer(named),
        namelessCallAnswer(asked),
        disabledAnswer(asked),
        methodNotFoundAnswer(named).body,
        progressNotification('"t"', { progress: 1, total: 2, message: evil }),
        rpcError(null, "parseError", evil),
      ];
      for (const body of bodies) {
        assert.ok(!/[\r\n]/.test(body), body);
        assert.ok(!/\\ud[89a-f]/i.test(body), body);
        assert.equal(JSON.parse(body).jsonrpc, "2.0");
      }
      const [content] = Object(
        resultOf(toolErrorAnswer(asked, facts, evil), JSON.parse(asked.idText))["content"],
      );
      assert.equal(content.text, evilOut);
    }
  });

  test("the id comes out as it was written", () => {
    const long = JSON.stringify("x".repeat(4096));
    const ids = ["1", "1.0", "9007199254740993", '"1"', '"007"', '""', long, '"a\\u0000b"'];
    for (const idText of ids) {
      for (const era of ["legacy", "modern"] as const) {
        const asked = { era, idText };
        const bodies = [
          pingAnswer(asked),
          toolsListAnswer(asked, KNOWN),
          toolErrorAnswer(asked, KNOWN, "x"),
          disabledAnswer(asked),
          methodNotFoundAnswer({ ...asked, method: "x" }).body,
        ];
        for (const body of bodies) assert.ok(body.startsWith(`{"jsonrpc":"2.0","id":${idText},`));
      }
    }
  });
});
