import assert from "node:assert/strict";
import { test } from "node:test";
import { META_KEYS } from "@relay/protocol";
import type { HostHeaders } from "./header-params.ts";
import { readHostRequest, type ToolCall } from "./host-request.ts";

const META = { [META_KEYS.protocolVersion]: "2026-07-28", [META_KEYS.clientCapabilities]: {} };

const SEED = 20_260_728;
const DOCUMENTED = new Map([
  ["legacy", ["initialize", "ping", "list", "unknown_method", "nameless_call", "call"]],
  ["modern", ["list", "discover", "unknown_method", "nameless_call", "call"]],
]);
const REFUSALS = [-32700, -32600, -32602, -32020, -32022];

test(`whatever is sent, the answer is one of those documented and nothing throws (seed ${SEED})`, () => {
  const random = randomOf(SEED);
  const seen = new Set<string>();
  for (let round = 0; round < 20_000; round += 1) {
    const body = randomBody(random);
    const request = readHostRequest(body, randomHeaders(random), {
      argumentsBytes: 64,
    });
    seen.add(request.type);
    if (request.type === "accepted") continue;
    if (request.type === "cancel") {
      assert.match(request.key, /^[sn]/);
    } else if (request.type === "refused") {
      const answer = JSON.parse(request.body);
      assert.equal(request.status, 400);
      assert.ok(REFUSALS.includes(answer.error.code), request.body);
      assert.ok(!/[\r\n]/.test(request.body));
    } else {
      assert.ok(DOCUMENTED.get(request.era)?.includes(request.type), body);
      assert.deepEqual(JSON.parse(request.idText), JSON.parse(body).id);
      assert.ok(!/[\r\n]/.test(request.idText));
      if (request.type === "call") checkCall(request, body);
    }
  }
  assert.equal(seen.size, 10, `every kind was seen, not only ${[...seen].join(", ")}`);
});

function checkCall(call: ToolCall, body: string): void {
  const { params } = JSON.parse(body);
  assert.equal(call.name, params.name);
  if (!call.arguments.ok) return;
  assert.deepEqual(JSON.parse(call.arguments.text), params.arguments ?? {});
  assert.equal(call.arguments.bytes, Buffer.byteLength(call.arguments.text));
  assert.ok(call.arguments.bytes <= 64 && !/[\r\n]/.test(call.arguments.text));
}

type Random = (below: number) => number;

/** A small generator of whole numbers (mulberry32), so that a seed replays a run. */
function randomOf(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function pick<Item>(random: Random, items: readonly Item[]): Item | undefined {
  return items[random(items.length)];
}

const METHODS = [
  "initialize",
  "ping",
  "tools/list",
  "tools/call",
  "tools/call",
  "server/discover",
  "notifications/cancelled",
  "notifications/initialized",
  "nope",
  "",
  5,
  undefined,
];
const VALUES = [
  undefined,
  null,
  0,
  1.5,
  "",
  "a",
  "Zü\u2028\n",
  [],
  {},
  { a: { b: [1] } },
  "x".repeat(99),
];
const METAS = [undefined, META, META, { ...META, progressToken: "t" }, {}, null, 7];
const VERSIONS = [undefined, "2026-07-28", "2026-07-28", "2025-06-18", "2024-11-05", "2030-01-01"];

function randomBody(random: Random): string {
  if (random(50) === 0) return String.fromCharCode(...Array.from({ length: 9 }, () => random(200)));
  const message = {
    jsonrpc: random(20) === 0 ? pick(random, VALUES) : "2.0",
    id: random(2) === 0 ? random(9) : pick(random, VALUES),
    method: pick(random, METHODS),
    params:
      random(5) === 0
        ? pick(random, VALUES)
        : {
            name: random(3) === 0 ? pick(random, VALUES) : "a",
            arguments: pick(random, VALUES),
            requestId: pick(random, VALUES),
            _meta: pick(random, METAS),
          },
    result: random(20) === 0 ? {} : undefined,
  };
  const body = JSON.stringify(random(30) === 0 ? [message] : message, null, random(2) * 2);
  if (random(4) > 0) return body;
  const at = random(body.length);
  return `${body.slice(0, at)}${pick(random, ["", '"', "{", "\\", "\u0000"])}${body.slice(at + random(3))}`;
}

function randomHeaders(random: Random): HostHeaders {
  const sent = new Map([
    ["mcp-protocol-version", pick(random, VERSIONS)],
    ["mcp-method", String(pick(random, METHODS))],
    ["mcp-name", pick(random, ["a", "a", "=?base64?YQ==?=", "=?base64?YQ?=", "b", undefined])],
  ]);
  return { get: (name) => sent.get(name) ?? null };
}
