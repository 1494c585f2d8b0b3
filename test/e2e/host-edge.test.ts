/** What the HTTP edge answers to requests that are no good requests, before any route. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { callTool, connectApp, ECHO, openRelay, textOf } from "./harness.ts";
import { callText } from "./calls-rows.ts";
import { assertMcpHeaders } from "./host-headers.ts";
import { exchange, rawAnswer, RawConnection, requestText } from "./host-raw.ts";
import type { RawAnswer } from "./host-raw.ts";

const relay = await openRelay();
after(() => relay[Symbol.asyncDispose]());

const link = await relay.link();
const { pathname } = new URL(link.mcpUrl);
const json = { "Content-Type": "application/json" };

/** The shape of every error that is not an MCP message's (SPEC 4). */
function assertRefused(answer: RawAnswer, status: number, what: string): void {
  assert.equal(answer.status, status, what);
  assert.equal(answer.headers.get("connection"), "close", what);
  assert.equal(answer.headers.get("content-type"), "application/json", what);
  // Whether it was meant for an MCP URL can't be known, so it is answered as if it was.
  assertMcpHeaders(answer.headers, what);
  const { error } = JSON.parse(answer.body);
  assert.equal(error.code, "VALIDATION_ERROR", what);
  assert.equal(error.requestId, answer.headers.get("x-request-id"), what);
}

// They take the edge's own time limits, so they run while the other tests do.
const lateHead = exchange(relay.port, `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\n`);
const lateBody = exchange(
  relay.port,
  requestText(relay.port, "POST", pathname, { ...json, "Content-Length": "100" }, "{"),
);

const patient = await relay.link();
const patientApp = await connectApp(patient);
const longCall = callTool(patient.mcpUrl);

test("what is not HTTP, or breaks off in a chunk, gets 400 and the connection ends", async () => {
  const broken = [
    "NONSENSE\r\n\r\n",
    `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nBad Header: x\r\n\r\n`,
    `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`,
    requestText(
      relay.port,
      "POST",
      pathname,
      { ...json, "Transfer-Encoding": "chunked" },
      "ZZ\r\n",
    ),
    "\u0016\u0003\u0001\u0000",
  ];
  for (const text of broken) assertRefused(await exchange(relay.port, text), 400, text);
});

test("a request of HTTP/1.1 without Host gets 400", async () => {
  const text = `POST ${pathname} HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}`;
  assertRefused(await exchange(relay.port, text), 400, "no Host");
});

test("a head over 16 KiB gets 431", async () => {
  const long = requestText(relay.port, "POST", pathname, { ...json, "X-Long": "a".repeat(17_000) });
  assertRefused(await exchange(relay.port, long), 431, "431");
  const fits = { ...json, "X-Long": "a".repeat(15_000), Connection: "close" };
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const answer = await exchange(relay.port, requestText(relay.port, "POST", pathname, fits, body));
  assert.equal(answer.status, 200);
});

test("an Expect that Relay does not know is answered like the request without it", async () => {
  const headers = { ...json, Expect: "the-unexpected", Connection: "close" };
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const answer = await exchange(
    relay.port,
    requestText(relay.port, "POST", pathname, headers, body),
  );
  assert.equal(answer.status, 200);
  assertMcpHeaders(answer.headers, "Expect");
});

test("nonsense behind a call ends the call and is never answered inside its stream", async () => {
  const app = await connectApp(link);
  const host = new RawConnection(relay.port);
  host.send(requestText(relay.port, "POST", pathname, json, callText('{"query":"x"}')));
  const call = await app.next("call");
  await host.until((text) => text.includes(": open"));
  host.send("NONSENSE\r\n\r\n");
  assert.equal((await app.next("cancel"))["id"], call["id"]);
  const all = await host.closed;
  assert.equal(all.match(/HTTP\/1\.1/g)?.length, 1, all);
  await app.close();
});

test("requests behind one another on a connection are each answered, in order", async () => {
  const host = new RawConnection(relay.port);
  const ping = (id: number, more: Record<string, string>): string => {
    const body = `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
    return requestText(relay.port, "POST", pathname, { ...json, ...more }, body);
  };
  host.send(ping(1, {}) + ping(2, {}) + ping(3, { Connection: "close" }));
  const all = await host.closed;
  assert.deepEqual(all.match(/"id":\d/g), ['"id":1', '"id":2', '"id":3']);
});

test("an idle connection is kept for longer than the 60 seconds of the usual proxies", async () => {
  const host = new RawConnection(relay.port);
  host.send(requestText(relay.port, "GET", pathname));
  const text = await host.until((so) => so.includes("\r\n\r\n"));
  assert.equal(rawAnswer(text).headers.get("keep-alive"), "timeout=75");
  host.finish();
});

test("requests that break off halfway leave nothing behind", async () => {
  const whole = requestText(relay.port, "POST", pathname, json, callText('{"query":"x"}'));
  for (const part of [1, 20, whole.indexOf("\r\n\r\n") + 2, whole.length - 5]) {
    for (const end of ["finish", "reset"] as const) {
      const host = new RawConnection(relay.port);
      host.send(whole.slice(0, part));
      await new Promise((resolve) => setTimeout(resolve, 20));
      host[end]();
      await host.closed;
    }
  }
  const app = await connectApp(link, ECHO);
  assert.equal(textOf(await callTool(link.mcpUrl)), '{"query":"invoices"}');
  assert.equal(app.frames.filter((frame) => frame["type"] === "call").length, 1);
  await app.close();
});

test("a head that is not whole within 10 seconds, or a request within 20, gets 408", async () => {
  assert.equal(await Promise.race([lateHead, lateBody]), await lateHead);
  assertRefused(await lateHead, 408, "head");
  assertRefused(await lateBody, 408, "body");
});

test("a call that the app answers after all those limits is answered to the host", async () => {
  await lateBody;
  const { id } = await patientApp.next("call");
  patientApp.send({ type: "result", id, content: [{ type: "text", text: "at last" }] });
  const answer = await longCall;
  assert.equal(textOf(answer), "at last");
  assert.match(answer.text, /^: open\n\n: keep-alive\n\nevent: message\n/);
  await patientApp.close();
});

test("none of this is an error in the log", () => {
  const bad = relay.log.filter((line) => /"level":"(warn|error)"/.test(line));
  assert.deepEqual(bad, []);
});
