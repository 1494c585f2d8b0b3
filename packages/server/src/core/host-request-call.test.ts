import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defaultLimits, META_KEYS } from "@relay/protocol";
import {
  type CallArguments,
  type ClientInfo,
  type HostRequest,
  readHostRequest,
  type ToolCall,
} from "./host-request.ts";

const META = { [META_KEYS.protocolVersion]: "2026-07-28", [META_KEYS.clientCapabilities]: {} };

/** Reads a body sent with `headers` in lower case. */
function read(body: string, headers: Readonly<Record<string, string>> = {}): HostRequest {
  return readHostRequest(body, { get: (name) => headers[name] ?? null }, defaultLimits());
}

function readCall(body: string): ToolCall {
  const request = read(body);
  assert.ok(request.type === "call", `a call, not ${JSON.stringify(request)}`);
  return request;
}

function rpc(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

/** A call of tool `a` with id 1, and more members in its params as raw text. */
function call(members: string, id = "1"): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"a"${members}}}`;
}

function tokenOf(text: string): string | null {
  return readCall(call(`,"_meta":{"x":{},"progressToken": ${text} }`)).progressToken;
}

function argumentsOf(text: string): CallArguments {
  return readCall(call(`,"arguments":${text}`)).arguments;
}

/** Arguments of exactly so many bytes, an even number. */
function filled(bytes: number): string {
  return `{"a":"${"é".repeat((bytes - 8) / 2)}"}`;
}

function clientOf(info: unknown): ClientInfo | null {
  const request = read(rpc("initialize", { clientInfo: info }));
  assert.ok("client" in request);
  return request.client;
}

describe("a call", () => {
  test("the id comes out as it was written", () => {
    const long = JSON.stringify("x".repeat(4096));
    const ids = ["1", "1.0", "9007199254740993", "-0", "1E400", '"1"', '"007"', '""', long];
    for (const id of [...ids, '"a\\u0000b"', '"\\/"', '"Zü\u2028rich"', '"\\ud800"']) {
      const body = `{ "method" : "tools/list" ,\n"id":\t${id}\r\n, "jsonrpc":"2.0"}`;
      const request = read(body);
      assert.ok(request.type === "list");
      assert.equal(request.idText, id);
    }
    const refused = read('{"jsonrpc":"2.0","id": 9007199254740993 ,"method":7}');
    assert.ok(refused.type === "refused");
    assert.ok(refused.body.includes('"id":9007199254740993,'));
  });

  test("arguments come out as they were written, on one line", () => {
    const request = readCall(call(',"arguments": {"id":9007199254740993,\r\n "b":[1.0,1E400] } '));
    assert.ok(request.arguments.ok);
    assert.equal(request.arguments.text, '{"id":9007199254740993,   "b":[1.0,1E400] }');
    assert.equal(request.arguments.bytes, 43);
    assert.deepEqual(Object.keys(request.arguments.value), ["id", "b"]);
  });

  test("absent arguments are {}, two bytes", () => {
    const expected = { ok: true, text: "{}", value: {}, bytes: 2 };
    assert.deepEqual(readCall(call("")).arguments, expected);
    assert.deepEqual(readCall(call(',"arguments":{}')).arguments, expected);
  });

  test("arguments that are no object are invalid input, not a JSON-RPC fault", () => {
    for (const text of ["null", "[]", "5", '"{}"', "true"]) {
      assert.deepEqual(argumentsOf(text), {
        ok: false,
        fault: "arguments must be object",
        bytes: text.length,
      });
    }
  });

  test("arguments over 64 KiB are invalid input whose text names the limit; size is looked at first", () => {
    assert.equal(Buffer.byteLength(filled(65_536)), 65_536);
    assert.equal(argumentsOf(filled(65_536)).ok, true);
    const over = argumentsOf(filled(65_538));
    assert.deepEqual(over, {
      ok: false,
      fault: "arguments must be at most 64 KiB as JSON",
      bytes: 65_538,
    });
    assert.deepEqual(argumentsOf(`"${"x".repeat(65_535)}"`), { ...over, bytes: 65_537 });
  });

  test("the text of the size limit follows the limit", () => {
    const body = call(',"arguments":{"a":"0123456789"}');
    const request = readHostRequest(body, { get: () => null }, { argumentsBytes: 10 });
    assert.ok(request.type === "call" && !request.arguments.ok);
    assert.equal(request.arguments.fault, "arguments must be at most 10 bytes as JSON");
  });

  test("the progress token comes out as it was written; anything but a string or a number is none", () => {
    for (const text of ["0", "1.0", "9007199254740993", '"a\\u0000"', '""']) {
      assert.equal(tokenOf(text), text);
    }
    for (const text of ["null", "{}", "[1]", "true"]) {
      assert.equal(tokenOf(text), null);
    }
    assert.equal(readCall(call("")).progressToken, null);
    assert.equal(readCall(call(',"_meta":[1]')).progressToken, null);
    assert.equal(readCall(call(',"progressToken":1')).progressToken, null);
  });

  test("a name that is no string makes it no call", () => {
    for (const params of [{}, { name: 5 }, { name: null }, { name: ["a"] }]) {
      assert.equal(read(rpc("tools/call", params)).type, "nameless_call");
    }
    for (const name of ["", "__proto__", "toString", "no such tool"]) {
      assert.equal(readCall(rpc("tools/call", { name })).name, name);
    }
  });
});

describe("the client", () => {
  test("initialize says who asks; without a name nobody does", () => {
    assert.deepEqual(clientOf({ name: "host", version: "1" }), { name: "host", version: "1" });
    assert.deepEqual(clientOf({ name: "host" }), { name: "host", version: "" });
    assert.deepEqual(clientOf({ name: "host", version: 5 }), { name: "host", version: "" });
    for (const info of [undefined, null, "host", [], {}, { version: "1" }, { name: 5 }]) {
      assert.equal(clientOf(info), null);
    }
  });

  test("name and version are cut to 64 code points and hold no half of a surrogate pair", () => {
    assert.deepEqual(clientOf({ name: "😀".repeat(70), version: "v".repeat(65) }), {
      name: "😀".repeat(64),
      version: "v".repeat(64),
    });
    assert.deepEqual(clientOf({ name: `a${"😀".repeat(64)}`, version: "\ud800" }), {
      name: `a${"😀".repeat(63)}`,
      version: "\ufffd",
    });
  });

  test("`_meta` says who asks on any request, of either generation", () => {
    const info = { [META_KEYS.clientInfo]: { name: "host", version: "2" } };
    const legacy = read(rpc("ping", { _meta: info }));
    const newer = read(rpc("tools/list", { _meta: { ...META, ...info } }), {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/list",
    });
    const first = read(rpc("initialize", { _meta: info }));
    for (const request of [legacy, newer, first]) {
      assert.ok("client" in request);
      assert.deepEqual(request.client, { name: "host", version: "2" });
    }
  });
});
