import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { META_KEYS } from "@relay/protocol";
import { refuseModern } from "./modern-request.ts";

type Sent = Record<string, string>;
type Params = Record<string, unknown>;
type Call = { params: Params; meta: Params; sent: Sent };

/** A call in order, changed by `changes`, and what is answered to it. */
function refuse(...changes: readonly ((call: Call) => void)[]) {
  const meta: Params = {
    [META_KEYS.protocolVersion]: "2026-07-28",
    [META_KEYS.clientCapabilities]: {},
  };
  const call: Call = {
    params: { name: "search_notes", arguments: {}, _meta: meta },
    meta,
    sent: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "search_notes",
    },
  };
  for (const change of changes) change(call);
  const headers = { get: (name: string) => call.sent[name] ?? null };
  const request = { idText: '"openai-mcp-discover"', method: "tools/call", params: call.params };
  const answer = refuseModern(request, headers);
  return answer === null ? null : { status: answer.status, body: JSON.parse(answer.body) };
}

const without = (name: string) => (call: Call) => void delete call.sent[name];
const withHeader = (name: string, value: string) => (call: Call) => void (call.sent[name] = value);
const withMeta = (key: string, value: unknown) => (call: Call) => void (call.meta[key] = value);
const claim = (version: string) => (call: Call) => {
  call.meta[META_KEYS.protocolVersion] = version;
  call.sent["mcp-protocol-version"] = version;
};

/** The rungs in their order: what is done wrong, and how that is answered. */
const RUNGS: readonly {
  readonly wrong: string;
  readonly change: (call: Call) => void;
  readonly code: number;
  readonly says: RegExp;
}[] = [
  {
    wrong: "no _meta",
    change: (call) => void delete call.params["_meta"],
    code: -32602,
    says: /^Invalid params: _meta must be an object$/,
  },
  {
    wrong: "no version in _meta",
    change: (call) => void delete call.meta[META_KEYS.protocolVersion],
    code: -32602,
    says: /^Invalid params: _meta\["io\.modelcontextprotocol\/protocolVersion"\] must be a string$/,
  },
  {
    wrong: "no capabilities in _meta",
    change: (call) => void delete call.meta[META_KEYS.clientCapabilities],
    code: -32602,
    says: /^Invalid params: _meta\["io\.modelcontextprotocol\/clientCapabilities"\] must be an object$/,
  },
  {
    wrong: "a version header that differs",
    change: withHeader("mcp-protocol-version", "2025-11-25"),
    code: -32020,
    says: /^Header mismatch: MCP-Protocol-Version differs from the body$/,
  },
  {
    wrong: "a version nobody offers",
    change: claim("2027-01-01"),
    code: -32022,
    says: /^Unsupported protocol version\. Supported versions: 2026-07-28$/,
  },
  {
    wrong: "no version header",
    change: without("mcp-protocol-version"),
    code: -32020,
    says: /^Header mismatch: MCP-Protocol-Version is missing$/,
  },
  {
    wrong: "no Mcp-Method",
    change: without("mcp-method"),
    code: -32020,
    says: /^Header mismatch: Mcp-Method is missing$/,
  },
  {
    wrong: "no Mcp-Name",
    change: without("mcp-name"),
    code: -32020,
    says: /^Header mismatch: Mcp-Name is missing$/,
  },
];

describe("the modern ladder", () => {
  test("a request that is in order is not refused", () => {
    assert.equal(refuse(), null);
  });

  for (const { wrong, change, code, says } of RUNGS) {
    test(`${wrong}: 400 with ${code} and the request's id`, () => {
      const refused = refuse(change);
      assert.equal(refused?.status, 400);
      assert.equal(refused.body.id, "openai-mcp-discover");
      assert.equal(refused.body.error.code, code);
      assert.match(refused.body.error.message, says);
    });
  }

  test("of two things that are wrong, the one on the lower rung is answered", () => {
    for (const [index, first] of RUNGS.entries()) {
      for (const second of RUNGS.slice(index + 1)) {
        // A header that is gone can't differ, and one version can't be wrong in two ways.
        if (first.wrong === "a version header that differs" && /version/.test(second.wrong))
          continue;
        // The change on the higher rung comes first, since the lower one may take its place away.
        const refused = refuse(second.change, first.change);
        assert.match(refused?.body.error.message, first.says, `${first.wrong}, ${second.wrong}`);
      }
    }
  });

  test("a header that contradicts the body is told apart from a version nobody offers", () => {
    const body = withMeta(META_KEYS.protocolVersion, "v999");
    assert.equal(refuse(body)?.body.error.code, -32020);
    assert.equal(refuse(body, without("mcp-protocol-version"))?.body.error.code, -32022);
  });

  test("keys of `_meta` with the wrong type are like absent ones", () => {
    const rows = [
      [META_KEYS.protocolVersion, [5, null, {}, ["2026-07-28"]]],
      [META_KEYS.clientCapabilities, ["x", null, [], true]],
    ] as const;
    for (const [key, values] of rows) {
      for (const value of values) {
        const refused = refuse(withMeta(key, value));
        assert.equal(refused?.body.error.code, -32602);
        assert.ok(refused.body.error.message.includes(key));
      }
    }
    for (const meta of [null, [], "x", 5]) {
      assert.equal(refuse((call) => void (call.params["_meta"] = meta))?.body.error.code, -32602);
    }
  });

  test("clientInfo is never required and never refused", () => {
    for (const info of [undefined, null, "x", {}, { name: "host", version: "1" }]) {
      assert.equal(refuse(withMeta(META_KEYS.clientInfo, info)), null);
    }
  });

  test("a refused version is named, cut, beside the modern ones that are supported", () => {
    for (const version of ["2027-01-01", "2025-11-25", "v".repeat(5000)]) {
      assert.deepEqual(refuse(claim(version))?.body.error.data, {
        supported: ["2026-07-28"],
        requested: version.slice(0, 64),
      });
    }
  });
});

describe("the headers of a modern request", () => {
  test("their values are compared as written, case and all, without the blanks around them", () => {
    const rows = [
      ["mcp-method", "TOOLS/CALL", false],
      ["mcp-method", "tools/list", false],
      ["mcp-method", "=?base64?dG9vbHMvY2FsbA==?=", false],
      ["mcp-method", "  tools/call\t", true],
      ["mcp-method", "", false],
      ["mcp-name", "Search_notes", false],
      ["mcp-name", "wrong_tool_name", false],
      ["mcp-name", "search_notes, search_notes", false],
      ["mcp-name", "  search_notes  ", true],
      ["mcp-name", "=?base64?c2VhcmNoX25vdGVz?=", true],
      ["mcp-name", "=?BASE64?c2VhcmNoX25vdGVz?=", false],
      ["mcp-name", "=?base64?c2VhcmNoX25vdGV6?=", false],
      ["mcp-protocol-version", " 2026-07-28 ", true],
    ] as const;
    for (const [name, value, passes] of rows) {
      const refused = refuse(withHeader(name, value));
      assert.equal(refused === null, passes, `${name}: ${value}`);
      if (refused !== null) assert.equal(refused.body.error.code, -32020);
    }
  });

  test("a name that is not properly encoded is refused for that", () => {
    for (const value of ["=?base64?c2Vh!!!?=", "=?base64?YQ?=", "caf\u00e9", "a\u0001b"]) {
      const refused = refuse(withHeader("mcp-name", value));
      assert.equal(
        refused?.body.error.message,
        "Header mismatch: Mcp-Name is not properly encoded",
      );
    }
  });

  test("a call whose name is no string has no Mcp-Name to repeat it", () => {
    for (const name of [undefined, null, 5, {}]) {
      const nameless = (call: Call) => void (call.params["name"] = name);
      assert.equal(refuse(nameless), null);
      assert.equal(refuse(nameless, without("mcp-name")), null);
    }
  });

  test("only tools/call has an Mcp-Name", () => {
    const meta = { [META_KEYS.protocolVersion]: "2026-07-28", [META_KEYS.clientCapabilities]: {} };
    for (const method of ["tools/list", "server/discover", "prompts/get", "nope"]) {
      const sent: Sent = { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
      const headers = { get: (name: string) => sent[name] ?? null };
      const request = { idText: "1", method, params: { name: "x", _meta: meta } };
      assert.equal(refuseModern(request, headers), null);
    }
  });
});
