/**
 * Every wire-visible fact, pinned. Red means that what apps, hosts or developers see has changed:
 * do it on purpose, and add a line to CHANGELOG.md.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CLOSE_CODES,
  FINAL_CLOSE_CODES,
  FRAME_ERRORS,
  LEGACY_VERSIONS,
  LIMITS,
  MODERN_VERSIONS,
  OUTCOMES,
  OUTCOME_NAMES,
  REST_ERRORS,
  RPC_ERRORS,
  RPC_TEXTS,
  TOKEN_SHAPES,
  TOOL_ERROR_TEXTS,
  isCounted,
  limitEnvName,
  notConnectedYetText,
  parseToken,
  secondsText,
} from "./index.ts";

test("the limits are the product spec's", () => {
  const values = Object.fromEntries(
    Object.entries(LIMITS).map(([name, rule]) => [name, rule.value]),
  );
  assert.deepEqual(values, {
    projectsPerAccount: 10,
    linksPerProject: 10_000,
    linksPerIpPerMinute: 60,
    labelChars: 64,
    callsPerMinute: 60,
    callsPerMinuteMax: 6_000,
    metaRequestsPerMinute: 300,
    unknownTokensPerMinute: 120,
    bodyBytes: 81_920,
    callsInFlight: 8,
    callTimeoutSeconds: 180,
    helloTimeoutSeconds: 10,
    tools: 64,
    manifestBytes: 65_536,
    appNameChars: 64,
    toolNameChars: 64,
    toolDescriptionChars: 2_000,
    instructionsChars: 4_000,
    commandsPerMinute: 30,
    hellosPerMinute: 120,
    invalidFrames: 10,
    argumentsBytes: 65_536,
    resultBytes: 131_072,
    progressMessageChars: 1_000,
    frameBytes: 262_144,
    silenceSeconds: 90,
    pingIntervalSeconds: 30,
    keepAliveSeconds: 15,
    socketsPerProject: 10_000,
    pendingSocketsPerIp: 1_000,
    sendBufferBytes: 1_048_576,
    restRequestsPerMinute: 1_200,
    refusedRowsPerMinute: 300,
    callRetentionDays: 30,
    unusedLinkDays: 7,
  });
});

test("a limit is set by its name in upper snake case", () => {
  assert.equal(limitEnvName("callTimeoutSeconds"), "RELAY_CALL_TIMEOUT_SECONDS");
  assert.equal(limitEnvName("linksPerIpPerMinute"), "RELAY_LINKS_PER_IP_PER_MINUTE");
  assert.equal(limitEnvName("pendingSocketsPerIp"), "RELAY_PENDING_SOCKETS_PER_IP");
});

test("the outcomes and what of them counts are the product spec's", () => {
  const counted = Object.fromEntries(OUTCOME_NAMES.map((name) => [name, OUTCOMES[name].counted]));
  assert.deepEqual(counted, {
    ok: "always",
    tool_error: "always",
    timeout: "always",
    cancelled: "sent",
    disconnected: "never",
    offline: "never",
    paused: "never",
    busy: "never",
    rate_limited: "never",
    invalid_input: "never",
    unknown_tool: "never",
    cap_reached: "never",
    quota_exceeded: "never",
  });
});

test("cancelled counts exactly when the app was handed the call", () => {
  assert.equal(isCounted("cancelled", true), true);
  assert.equal(isCounted("cancelled", false), false);
  assert.equal(isCounted("disconnected", true), false);
  assert.equal(isCounted("timeout", true), true);
});

test("the sentences for the model are the product spec's", () => {
  const said = [
    TOOL_ERROR_TEXTS.rate_limited("Notes", 12),
    TOOL_ERROR_TEXTS.paused("Notes"),
    TOOL_ERROR_TEXTS.offline("Notes"),
    TOOL_ERROR_TEXTS.busy("Notes"),
    TOOL_ERROR_TEXTS.cap_reached("Notes"),
    TOOL_ERROR_TEXTS.quota_exceeded("Notes"),
    TOOL_ERROR_TEXTS.unacceptable("content must be an array"),
    TOOL_ERROR_TEXTS.timeout("Notes", 180),
    TOOL_ERROR_TEXTS.disconnected("Notes"),
    TOOL_ERROR_TEXTS.cancelled(),
    notConnectedYetText("Notes"),
    RPC_TEXTS.unknownTool("nope"),
    RPC_TEXTS.invalidArguments("search_notes", "arguments must have required property 'query'"),
    RPC_TEXTS.methodNotFound("resources/list"),
    RPC_TEXTS.disabled(),
  ];
  assert.deepEqual(said, [
    "Notes is rate limited: too many calls this minute. Try again in 12 seconds.",
    "Notes is paused in the app. Resume it there and try again.",
    "Notes is not running on your device. Open it and try again.",
    "Notes is busy with other calls. Try again in a moment.",
    "Notes is unavailable: spend cap reached for this month. The developer can raise it.",
    "Notes is unavailable: allowance used up; the developer needs to add credits.",
    "The app sent an answer the relay could not accept: content must be an array",
    "Notes did not answer within 180 seconds.",
    "The relay lost the connection to Notes while running the tool; it may or may not have completed.",
    "The call was cancelled.",
    "Notes has not connected yet; open it on your device and its tools appear.",
    "Unknown tool: nope",
    "Invalid arguments for tool search_notes: arguments must have required property 'query'",
    "Method not found: resources/list",
    "This connector is disabled",
  ]);
});

test("a tool's name in a text is cut at 64 code points", () => {
  assert.equal(RPC_TEXTS.unknownTool("😀".repeat(65)), `Unknown tool: ${"😀".repeat(64)}`);
  assert.equal(RPC_TEXTS.unknownTool("a".repeat(64)), `Unknown tool: ${"a".repeat(64)}`);
});

test("seconds are written as a person writes them", () => {
  assert.deepEqual([180, 1, 0.5].map(secondsText), ["180 seconds", "1 second", "0.5 seconds"]);
});

test("the close codes, and which of them are final, are the product spec's", () => {
  assert.deepEqual(
    Object.keys(CLOSE_CODES).map(Number),
    [1002, 1007, 1008, 1011, 1012, 4001, 4400, 4401, 4403, 4410, 4423, 4429],
  );
  assert.deepEqual(FINAL_CLOSE_CODES, [4401, 4403, 4410]);
  const final = Object.entries(CLOSE_CODES).filter(([, rule]) => !rule.reconnect);
  assert.deepEqual(
    final.map(([code]) => Number(code)),
    FINAL_CLOSE_CODES,
  );
});

test("the reason of every close fits into a close frame", () => {
  for (const { reason } of Object.values(CLOSE_CODES)) {
    assert.ok(new TextEncoder().encode(reason).length <= 123, reason);
  }
});

test("the error codes are pinned", () => {
  const statuses = Object.entries(REST_ERRORS).map(([code, { status }]) => `${status} ${code}`);
  assert.deepEqual(statuses, [
    "400 VALIDATION_ERROR",
    "401 UNAUTHORIZED",
    "403 ORIGIN_NOT_ALLOWED",
    "403 FORBIDDEN",
    "403 REAUTHENTICATION_NEEDED",
    "403 PROJECT_SUSPENDED",
    "403 LIMIT_REACHED",
    "404 NOT_FOUND",
    "405 METHOD_NOT_ALLOWED",
    "409 CONFLICT",
    "409 NOT_A_TRIAL_LINK",
    "409 LINK_REVOKED",
    "413 PAYLOAD_TOO_LARGE",
    "421 MISDIRECTED",
    "415 UNSUPPORTED_MEDIA_TYPE",
    "426 UPGRADE_REQUIRED",
    "429 RATE_LIMITED",
    "500 INTERNAL",
    "503 UNAVAILABLE",
  ]);
  assert.deepEqual(Object.keys(FRAME_ERRORS), [
    "invalid_message",
    "invalid_result",
    "rate_limited",
    "internal",
  ]);
  const rpc = Object.fromEntries(
    Object.entries(RPC_ERRORS).map(([name, { code }]) => [name, code]),
  );
  assert.deepEqual(rpc, {
    parseError: -32700,
    invalidRequest: -32600,
    methodNotFound: -32601,
    invalidParams: -32602,
    disabled: -32000,
    headerMismatch: -32020,
    unsupportedVersion: -32022,
  });
});

test("the MCP versions are pinned", () => {
  assert.deepEqual(LEGACY_VERSIONS, ["2025-03-26", "2025-06-18", "2025-11-25"]);
  assert.deepEqual(MODERN_VERSIONS, ["2026-07-28"]);
});

test("tokens have their prefix and 32 base62 characters, call ids 16", () => {
  const body = "0123456789ABCDEFGHIJKLMNOPqrstuv";
  assert.deepEqual(
    Object.values(TOKEN_SHAPES).map(({ prefix, characters }) => `${prefix}${characters}`),
    ["lt_32", "ut_32", "pk_32", "sk_32", "op_32", "c_16"],
  );
  assert.equal(parseToken("linkToken", `lt_${body}`), `lt_${body}`);
  for (const wrong of [
    `ut_${body}`,
    `lt_${body}0`,
    `lt_${body.slice(1)}`,
    `lt_${body.slice(1)}-`,
  ]) {
    assert.equal(parseToken("linkToken", wrong), null, wrong);
  }
});
