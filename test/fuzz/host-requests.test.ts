/** Throws damaged requests of both MCP generations at what reads them, and answers what is read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultLimits, META_KEYS, RPC_ERRORS } from "@relay/protocol";
import {
  disabledAnswer,
  discoverAnswer,
  initializeAnswer,
  invalidArgumentsAnswer,
  methodNotFoundAnswer,
  namelessCallAnswer,
  pingAnswer,
  progressNotification,
  toolErrorAnswer,
  toolsListAnswer,
  unknownToolAnswer,
} from "../../packages/server/src/core/host-answers.ts";
import { checkHeaderParams } from "../../packages/server/src/core/header-params.ts";
import type { HostHeaders } from "../../packages/server/src/core/header-params.ts";
import { HostGate } from "../../packages/server/src/core/host-gate.ts";
import { readHostRequest } from "../../packages/server/src/core/host-request.ts";
import type { MethodRequest, ToolCall } from "../../packages/server/src/core/host-request.ts";
import { utf8Bytes } from "../../packages/server/src/core/json.ts";
import { Toolbox } from "../../packages/server/src/core/toolbox.ts";
import type { Random } from "../sim/random.ts";
import { anyText, anyValue } from "./mutate.ts";
import { fuzz, isReplay, roundsOf } from "./rounds.ts";

const ROUNDS = roundsOf(20_000);
const MODERN = "2026-07-28";
const META = {
  [META_KEYS.protocolVersion]: MODERN,
  [META_KEYS.clientCapabilities]: {},
  [META_KEYS.clientInfo]: { name: "host", version: "1" },
  progressToken: 7,
};
const TOOL = {
  name: "search",
  inputSchema: {
    type: "object",
    properties: { query: { type: "string", "x-mcp-header": "Query" }, limit: { type: "integer" } },
    required: ["query"],
    additionalProperties: false,
  },
};
const ARGUMENTS = { query: "invoices", limit: 3 };

/** Valid requests, each with what it is read as and the headers that go with it. */
const VALID = [
  asked("initialize", "initialize", { protocolVersion: "2025-11-25", clientInfo: { name: "h" } }),
  asked("ping", "ping", {}),
  asked("list", "tools/list", { cursor: "x" }),
  asked("call", "tools/call", {
    name: "search",
    arguments: ARGUMENTS,
    _meta: { progressToken: "t" },
  }),
  asked("nameless_call", "tools/call", { name: 5 }),
  asked("unknown_method", "resources/list", {}),
  asked("list", "tools/list", { _meta: META }, { "mcp-method": "tools/list" }),
  asked("discover", "server/discover", { _meta: META }, { "mcp-method": "server/discover" }),
  asked(
    "call",
    "tools/call",
    { name: "search", arguments: ARGUMENTS, _meta: META },
    { "mcp-method": "tools/call", "mcp-name": "search", "mcp-param-query": "invoices" },
  ),
  asked("unknown_method", "prompts/list", { _meta: META }, { "mcp-method": "prompts/list" }),
  {
    type: "cancel",
    headers: {},
    message: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } },
  },
  {
    type: "accepted",
    headers: {},
    message: { jsonrpc: "2.0", method: "notifications/initialized" },
  },
  { type: "accepted", headers: {}, message: { jsonrpc: "2.0", id: 1, result: {} } },
] as const;

const CODES: readonly number[] = Object.values(RPC_ERRORS).map(({ code }) => code);
const limits = defaultLimits();
const judged = Toolbox.judge([TOOL], limits);
assert.ok(judged.ok);
const { toolbox } = judged;
const FACTS = {
  projectName: "Notes\u2028\ud800",
  manifest: {
    app: { name: "Notes", version: "1" },
    instructions: 'Say "hello"',
    toolsText: JSON.stringify([TOOL]),
  },
};

test("a request that is in order is read as what it is", () => {
  for (const { type, headers, message } of VALID) {
    const request = readHostRequest(JSON.stringify(message), headersOf(headers), limits);
    assert.equal(request.type, type, JSON.stringify({ message, request }));
  }
});

test("whatever a host sends, it is one of the documented answers or one that can be written", async () => {
  const seen = new Map<string, number>();
  await fuzz(ROUNDS, (random, note) => {
    const { headers, message } = random.pick([...VALID]);
    const text = anyText(message, random);
    const sent = random.chance(0.3) ? changeHeaders(headers, random) : headers;
    note(JSON.stringify({ text, headers: sent }));
    const request = readHostRequest(text, headersOf(sent), limits);
    seen.set(request.type, (seen.get(request.type) ?? 0) + 1);
    if (request.type === "accepted") return;
    if (request.type === "cancel") {
      assert.match(request.key, /^[sn]/);
    } else if (request.type === "refused") {
      assert.equal(request.status, 400);
      checkError(request.body);
    } else {
      checkMethod(request, headersOf(sent));
    }
  });
  const kinds = new Set([...VALID.map(({ type }) => type), "refused"]);
  const rare = [...kinds].filter((kind) => (seen.get(kind) ?? 0) < 100);
  if (!isReplay()) assert.deepEqual(rare, []);
});

function checkMethod(request: MethodRequest, headers: HostHeaders): void {
  checkOneLine(request.idText);
  const id: unknown = JSON.parse(request.idText);
  for (const body of answersTo(request, headers)) {
    checkOneLine(body);
    const answer = JSON.parse(body) as { id?: unknown; result?: unknown; error?: { code: number } };
    assert.deepEqual(answer.id, id);
    assert.equal(Object.hasOwn(answer, "result"), !Object.hasOwn(answer, "error"), body);
    if (answer.error !== undefined) assert.ok(CODES.includes(answer.error.code), body);
  }
}

/** Every body that could answer a request. */
function answersTo(request: MethodRequest, headers: HostHeaders): string[] {
  const always = [disabledAnswer(request)];
  switch (request.type) {
    case "initialize":
      return [...always, initializeAnswer(request, FACTS), initializeAnswer(request, NO_APP)];
    case "ping":
      return [...always, pingAnswer(request)];
    case "list":
      return [...always, toolsListAnswer(request, FACTS), toolsListAnswer(request, NO_APP)];
    case "discover":
      return [...always, discoverAnswer(request, FACTS)];
    case "unknown_method":
      return [...always, methodNotFoundAnswer(request).body];
    case "nameless_call":
      return [...always, namelessCallAnswer(request)];
    case "call":
      return [...always, ...answersToCall(request, headers)];
  }
}

const NO_APP = { projectName: "Notes", manifest: null };

function answersToCall(call: ToolCall, headers: HostHeaders): string[] {
  const bodies: string[] = [];
  if (call.progressToken !== null) {
    const progress = { progress: 1, total: null, message: "\ud800" };
    checkOneLine(call.progressToken);
    const message: unknown = JSON.parse(progressNotification(call.progressToken, progress));
    assert.equal(typeof message, "object");
  }
  if (call.arguments.ok) {
    const { text, value, bytes } = call.arguments;
    checkOneLine(text);
    assert.equal(bytes, utf8Bytes(text));
    assert.deepEqual(JSON.parse(text), value);
    if (call.era === "modern") {
      const sent = { idText: call.idText, argumentsValue: value };
      const mismatch = checkHeaderParams(toolbox.get("search")?.headerParams ?? [], sent, headers);
      if (mismatch !== null) bodies.push(mismatch.body);
    }
  }
  const judgement = new HostGate().judge(call, toolbox, 60, 0);
  if (judgement.type === "unknown_tool") bodies.push(unknownToolAnswer(call));
  if (judgement.type === "invalid_input") {
    assert.ok(judgement.why.length <= 600, judgement.why);
    bodies.push(invalidArgumentsAnswer(call, FACTS, judgement.why));
  }
  bodies.push(toolErrorAnswer(call, FACTS, "Notes is not running on your device."));
  return bodies;
}

function checkError(body: string): void {
  checkOneLine(body);
  const answer = JSON.parse(body) as { jsonrpc: unknown; error: { code: number; message: string } };
  assert.equal(answer.jsonrpc, "2.0");
  assert.ok(CODES.includes(answer.error.code), body);
  assert.ok(answer.error.message.length > 0 && answer.error.message.length <= 600, body);
}

function checkOneLine(text: string): void {
  assert.doesNotMatch(text, /[\r\n]/);
}

type Sent = Readonly<Record<string, string>>;

function asked(type: string, method: string, params: object, headers: Sent = {}) {
  const message = { jsonrpc: "2.0", id: 3, method, params };
  const isModern = Object.hasOwn(params, "_meta") && Object.keys(headers).length > 0;
  const version = isModern ? { "mcp-protocol-version": MODERN } : {};
  return { type, message, headers: { ...version, ...headers } };
}

function changeHeaders(headers: Sent, random: Random): Sent {
  const names = ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-query"] as const;
  const values = [
    "",
    MODERN,
    "2025-06-18",
    "2030-01-01",
    "tools/call",
    "=?base64?c2VhcmNo?=",
    "=?x",
  ];
  const value = random.chance(0.7) ? random.some(values) : String(anyValue(random, 0));
  const name = random.pick([...names]);
  if (random.chance(0.3)) {
    return Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
  }
  return { ...headers, [name]: value ?? "" };
}

function headersOf(sent: Sent): HostHeaders {
  return { get: (name) => sent[name.toLowerCase()] ?? null };
}
