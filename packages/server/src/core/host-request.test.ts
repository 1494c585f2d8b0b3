import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defaultLimits, META_KEYS, RPC_ERRORS } from "@relay/protocol";
import type { HostHeaders } from "./header-params.ts";
import { type HostRequest, readHostRequest, type ToolCall } from "./host-request.ts";

const LIMITS = defaultLimits();
const META = { [META_KEYS.protocolVersion]: "2026-07-28", [META_KEYS.clientCapabilities]: {} };
const LEGACY_LIST = ["2025-03-26", "2025-06-18", "2025-11-25"];

type Sent = Readonly<Record<string, string>>;

/** Headers as the edge offers them: asked for in lower case, or the test fails. */
function headersOf(sent: Sent): HostHeaders {
  const values = new Map(Object.entries(sent).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    get(name) {
      assert.equal(name, name.toLowerCase());
      return values.get(name) ?? null;
    },
  };
}

/** Reads a body: text as it is, anything else as JSON. */
function read(body: unknown, sent: Sent = {}): HostRequest {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return readHostRequest(text, headersOf(sent), LIMITS);
}

function readCall(body: unknown, sent: Sent = {}): ToolCall {
  const request = read(body, sent);
  assert.ok(request.type === "call", `a call, not ${JSON.stringify(request)}`);
  return request;
}

type Refused = { status: number; id?: unknown; error: { code: number; message: string } };

function readRefused(body: unknown, sent: Sent = {}): Refused {
  const request = read(body, sent);
  assert.ok(request.type === "refused", `a refusal, not ${JSON.stringify(request)}`);
  const { jsonrpc, ...rest } = JSON.parse(request.body);
  assert.equal(jsonrpc, "2.0");
  return { status: request.status, ...rest };
}

function rpc(method: string, params?: unknown, id: unknown = 1): Record<string, unknown> {
  return { jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) };
}

/** A request whose params nest `levels` arrays. */
function nested(levels: number): string {
  return `{"jsonrpc":"2.0","id":1,"method":"ping","params":${"[".repeat(levels)}${"]".repeat(levels)}}`;
}

/** A call of tool `a` with id 1, and more members in its params as raw text. */
function call(members: string, id = "1"): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"a"${members}}}`;
}

function modern(method: string, params: object = {}): Record<string, unknown> {
  return rpc(method, { ...params, _meta: META });
}

function modernHeaders(method: string, more: Sent = {}): Sent {
  return { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, ...more };
}

function callKey(id: string): string {
  return readCall(call("", id)).idKey;
}

function cancelKey(requestId: string): string {
  const params = `{"requestId":${requestId}}`;
  const body = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`;
  const request = read(body);
  assert.ok(request.type === "cancel");
  return request.key;
}

function negotiate(params: unknown): string {
  const request = read(rpc("initialize", params));
  assert.ok(request.type === "initialize" && request.era === "legacy");
  return request.version;
}

describe("the body", () => {
  test("what is not JSON is answered 400 with -32700 and no id", () => {
    for (const body of ["", "{", "nope", '{"id":1,}', "\ufeff{}", '{"a":"\n"}', "undefined"]) {
      const refused = readRefused(body);
      assert.equal(refused.status, 400);
      assert.equal(refused.error.code, -32700);
      assert.ok(!("id" in refused), body);
    }
  });

  test("JSON nested deeper than 128 levels, counted from the root, is answered 400 with -32600", () => {
    const tooDeep = readRefused(nested(128));
    assert.deepEqual([tooDeep.status, tooDeep.error.code, tooDeep.id], [400, -32600, 1]);
    assert.match(readRefused(nested(127)).error.message, /params must be an object/);
    assert.ok(!("id" in readRefused(`${"[".repeat(129)}${"]".repeat(129)}`)));
  });

  test("a key twice in one object is answered 400 with -32600", () => {
    const twice = readRefused('{"jsonrpc":"2.0","id":"a","method":"ping","params":{"b":1,"b":1}}');
    assert.deepEqual([twice.status, twice.error.code, twice.id], [400, -32600, "a"]);
    assert.ok(!("id" in readRefused('{"id":{},"a":1,"a":1}')));
  });

  test("an array, a batch or an empty one, is told to send one message per request", () => {
    for (const body of [[], [rpc("ping")], [[]]]) {
      const refused = readRefused(body);
      assert.deepEqual([refused.status, refused.error.code], [400, -32600]);
      assert.match(refused.error.message, /Send one message per request\./);
    }
  });

  test("each fault of shape is answered 400 with -32600, and the id where one could be read", () => {
    const rows: readonly (readonly [body: unknown, message: RegExp, id?: unknown])[] = [
      [5, /body must be a JSON object/],
      ["null", /body must be a JSON object/],
      ['"ping"', /body must be a JSON object/],
      [{}, /jsonrpc must be "2.0"/],
      [{ id: 1, method: "ping" }, /jsonrpc must be "2.0"/, 1],
      [{ jsonrpc: 2, id: "a", method: "ping" }, /jsonrpc must be "2.0"/, "a"],
      [{ jsonrpc: "1.0", method: "notifications/initialized" }, /jsonrpc must be "2.0"/],
      [{ jsonrpc: "2.0", id: 1 }, /method must be a string/, 1],
      [{ jsonrpc: "2.0" }, /method must be a string/],
      [{ jsonrpc: "2.0", id: 1, method: 5 }, /method must be a string/, 1],
      [{ jsonrpc: "2.0", id: 1, method: null, result: {} }, /method must be a string/, 1],
      [rpc("ping", undefined, null), /id must be a string or a number/],
      [rpc("ping", undefined, true), /id must be a string or a number/],
      [rpc("ping", undefined, {}), /id must be a string or a number/],
      [rpc("ping", undefined, ["1"]), /id must be a string or a number/],
      [rpc("ping", []), /params must be an object/, 1],
      [rpc("ping", null), /params must be an object/, 1],
      [rpc("ping", "x"), /params must be an object/, 1],
    ];
    for (const [body, message, id] of rows) {
      const refused = readRefused(body);
      assert.deepEqual([refused.status, refused.error.code], [400, -32600]);
      assert.match(refused.error.message, message);
      assert.deepEqual("id" in refused ? refused.id : undefined, id);
    }
  });

  test("a member named like a part of every object is only a member", () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{"method":5},"toString":1}';
    assert.equal(read(body).type, "ping");
    assert.equal(readRefused('{"__proto__":{"jsonrpc":"2.0"},"id":7}').id, 7);
  });
});

describe("messages that get no answer", () => {
  test("any notification is accepted, whatever is in it", () => {
    const bodies = [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", method: "notifications/foo", params: [1] },
      { jsonrpc: "2.0", method: "" },
      { jsonrpc: "2.0", method: "tools/call", params: { name: 5 } },
      { jsonrpc: "2.0", method: "notifications/cancelled" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: {} },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: null } },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: [1] } },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: "x" },
    ];
    for (const body of bodies) assert.deepEqual(read(body), { type: "accepted" });
  });

  test("a modern notification needs neither `_meta` nor Mcp headers", () => {
    const body = { jsonrpc: "2.0", method: "notifications/initialized" };
    const claim = { ...body, params: { _meta: { [META_KEYS.protocolVersion]: "v999" } } };
    assert.equal(read(body, { "MCP-Protocol-Version": "2026-07-28" }).type, "accepted");
    assert.equal(read(claim).type, "accepted");
    assert.equal(read(body, { "Mcp-Method": "tools/call" }).type, "accepted");
  });

  test("a JSON-RPC response is accepted", () => {
    const bodies = [
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: "x", result: null },
      { jsonrpc: "2.0", id: null, error: { code: 1, message: "" } },
      { jsonrpc: "2.0", error: 5 },
    ];
    for (const body of bodies) assert.deepEqual(read(body), { type: "accepted" });
  });

  test("an unsupported version header is refused before a notification is accepted", () => {
    const bodies = [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
    ];
    for (const body of bodies) {
      const legacy = readRefused(body, { "MCP-Protocol-Version": "2024-11-05" });
      const newer = readRefused(body, { "MCP-Protocol-Version": "2027-01-01" });
      assert.deepEqual([legacy.status, legacy.error.code, "id" in legacy], [400, -32600, false]);
      assert.deepEqual([newer.status, newer.error.code, "id" in newer], [400, -32022, false]);
    }
  });

  test("a cancel notification names the call by type and value of its id", () => {
    const same = [
      ["1", "1.0"],
      ["1", "1e0"],
      ["0", "-0"],
      ['"1"', '"\\u0031"'],
      ["9007199254740993", "9007199254740993"],
      ["1.5", "1.5"],
      ['""', '""'],
    ] as const;
    for (const [id, cancel] of same)
      assert.equal(callKey(id), cancelKey(cancel), `${id} ${cancel}`);
    const other = [
      ["1", '"1"'],
      ["1", "2"],
      ["9007199254740993", "9007199254740992"],
      ['"n1"', "1"],
      ['"a"', '"A"'],
    ] as const;
    for (const [id, cancel] of other) {
      assert.notEqual(callKey(id), cancelKey(cancel), `${id} ${cancel}`);
    }
  });
});

describe("legacy requests", () => {
  test("a request without a version header, or with one of the three, is legacy", () => {
    assert.equal(read(rpc("ping")).type, "ping");
    for (const version of LEGACY_LIST) {
      assert.equal(read(rpc("ping"), { "MCP-Protocol-Version": version }).type, "ping");
      assert.equal(read(rpc("ping"), { "MCP-Protocol-Version": ` ${version}\t` }).type, "ping");
    }
  });

  test("a version outside the list is answered 400, naming the supported versions", () => {
    const versions = ["2024-11-05", "2025-03-27", "1999-01-01", "latest", "", "2026-7-28", "9"];
    for (const version of versions) {
      const refused = readRefused(rpc("tools/list"), { "MCP-Protocol-Version": version });
      assert.deepEqual([refused.status, refused.id, refused.error.code], [400, 1, -32600]);
      for (const supported of LEGACY_LIST) assert.ok(refused.error.message.includes(supported));
    }
  });

  test("Mcp headers on an older request change nothing", () => {
    const sent = { "Mcp-Method": "tools/list", "Mcp-Name": "other", "Mcp-Param-A": "b" };
    assert.equal(read(rpc("tools/call", { name: "a" }), sent).type, "call");
    assert.equal(read(rpc("ping"), { ...sent, "MCP-Protocol-Version": "2025-11-25" }).type, "ping");
  });

  test("initialize echoes a supported version and answers 2025-11-25 otherwise", () => {
    for (const version of LEGACY_LIST) {
      assert.equal(negotiate({ protocolVersion: version }), version);
    }
    for (const version of ["2024-11-05", "2026-07-28", "2030-01-01", "", 5, null, {}]) {
      assert.equal(negotiate({ protocolVersion: version }), "2025-11-25");
    }
    assert.equal(negotiate(undefined), "2025-11-25");
  });

  test("initialize ignores the version header", () => {
    for (const version of ["2024-11-05", "2026-07-28", "2099-01-01", "nonsense"]) {
      const request = read(rpc("initialize", { protocolVersion: "2025-06-18" }), {
        "MCP-Protocol-Version": version,
      });
      assert.ok(request.type === "initialize");
      assert.equal(request.version, "2025-06-18");
    }
  });

  test("each method leads to what is to be done", () => {
    const rows = [
      ["initialize", "initialize"],
      ["ping", "ping"],
      ["tools/list", "list"],
      ["tools/call", "nameless_call"],
      ["server/discover", "unknown_method"],
      ["resources/list", "unknown_method"],
      ["notifications/initialized", "unknown_method"],
      ["notifications/cancelled", "unknown_method"],
      ["Tools/List", "unknown_method"],
      ["toString", "unknown_method"],
      ["__proto__", "unknown_method"],
      ["", "unknown_method"],
    ] as const;
    for (const [method, type] of rows) {
      const request = read(rpc(method));
      assert.equal(request.type, type, method);
      assert.ok("era" in request && request.era === "legacy");
      if (request.type === "unknown_method") assert.equal(request.method, method);
    }
  });
});

describe("modern requests", () => {
  test("each method leads to what is to be done", () => {
    const rows = [
      ["server/discover", "discover"],
      ["tools/list", "list"],
      ["initialize", "unknown_method"],
      ["ping", "unknown_method"],
      ["logging/setLevel", "unknown_method"],
      ["subscriptions/listen", "unknown_method"],
      ["resources/read", "unknown_method"],
      ["tools/call", "nameless_call"],
    ] as const;
    for (const [method, type] of rows) {
      const request = read(modern(method), modernHeaders(method));
      assert.equal(request.type, type, method);
      assert.ok("era" in request && request.era === "modern");
    }
  });

  test("`_meta` alone makes a request modern, and so does a version header of the second generation", () => {
    const byBody = readRefused(modern("tools/list"));
    assert.deepEqual([byBody.status, byBody.error.code], [400, RPC_ERRORS.headerMismatch.code]);
    for (const version of ["2026-07-28", "2026-07-29", "2027-01-01", "9999-99-99"]) {
      const byHeader = readRefused(rpc("ping"), { "MCP-Protocol-Version": version });
      assert.deepEqual([byHeader.status, byHeader.error.code], [400, -32602], version);
    }
    for (const version of ["2026-07-27", "2026-07-28 x", "20260728", "DRAFT-2026-v1"]) {
      const legacy = readRefused(rpc("ping"), { "MCP-Protocol-Version": version });
      assert.deepEqual([legacy.status, legacy.error.code], [400, -32600], version);
    }
  });

  test("other `_meta` keys do not make a request modern", () => {
    const meta = { progressToken: 1, [META_KEYS.clientInfo]: { name: "x" } };
    const capable = { ...meta, [META_KEYS.clientCapabilities]: {} };
    for (const value of [meta, capable, {}, null, 5, []]) {
      const request = read(rpc("tools/list", { _meta: value }));
      assert.ok(request.type === "list" && request.era === "legacy");
    }
  });

  test("a call that is in order names its tool, once plain and once encoded", () => {
    for (const name of ["search_notes", "a.b/c", "Zürich", " a ", "=?base64?YQ==?="]) {
      const plain = /^[!-~]+$/.test(name) && !name.startsWith("=?");
      const encoded = `=?base64?${Buffer.from(name).toString("base64")}?=`;
      for (const header of plain ? [name, encoded, ` ${name} `] : [encoded]) {
        const request = readCall(
          modern("tools/call", { name }),
          modernHeaders("tools/call", { "Mcp-Name": header }),
        );
        assert.equal(request.name, name);
        assert.equal(request.era, "modern");
      }
    }
  });
});
