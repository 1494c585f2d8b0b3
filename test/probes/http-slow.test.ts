/** Bodies that come slowly, in pieces or never whole, and connections that carry more than one request. */
import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ECHO, connectApp } from "../e2e/harness.ts";
import { callText } from "../e2e/calls-rows.ts";
import { RawConnection, rawAnswer, requestText } from "../e2e/host-raw.ts";
import { Probed } from "./probed.ts";

const probed = await Probed.open({ RELAY_CALLS_IN_FLIGHT: "4" });
after(() => probed[Symbol.asyncDispose]());
afterEach(() => probed.assertUndisturbed());

const { port } = probed.relay;
const JSON_TYPE = { "Content-Type": "application/json" };
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

/** How many of what came are answers that carry this. */
function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

test("a call whose request comes byte by byte is one call, and the app hears of it when it is whole", async () => {
  const link = await probed.project.link();
  const app = await connectApp(link, ECHO);
  const { pathname } = new URL(link.mcpUrl);
  const text = requestText(
    port,
    "POST",
    pathname,
    JSON_TYPE,
    callText('{"query":"\u00e9\u{1f642}"}'),
  );
  const bytes = Buffer.from(text);
  const host = new RawConnection(port);
  for (let at = 0; at < bytes.length; at += 1) {
    assert.equal(app.frames.length, 1, "only ready, so far");
    host.send(bytes.subarray(at, at + 1));
    await sleep(1);
  }
  await host.until((so) => so.includes('"result"'));
  assert.equal(app.frames.filter(({ type }) => type === "call").length, 1);
  assert.equal(app.frames[1]?.["arguments"].query, "\u00e9\u{1f642}");
  host.finish();
  await app.close();
});

test("500 requests that stop in their body keep nobody from anything, and leave nothing behind", async () => {
  const link = await probed.project.link();
  const app = await connectApp(link, ECHO);
  const { pathname } = new URL(link.mcpUrl);
  const half = requestText(
    port,
    "POST",
    pathname,
    { ...JSON_TYPE, "Content-Length": "80000" },
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","x":"${"y".repeat(40_000)}`,
  );
  const stuck = Array.from({ length: 500 }, () => new RawConnection(port));
  for (const host of stuck) host.send(half);
  for (let round = 0; round < 5; round += 1) await probed.assertUndisturbed();
  for (const [at, host] of stuck.entries()) {
    if (at % 2 === 0) host.reset();
    else host.finish();
  }
  await Promise.all(stuck.map(({ closed }) => closed));
  assert.equal(app.frames.length, 1, "none of them was a call");
  assert.equal(probed.relay.relay.node.inFlight, 0);
  await app.close();
});

test("a body of more than 80 KiB is refused while it comes, and what comes behind it is not read", async () => {
  const link = await probed.project.link();
  const { pathname } = new URL(link.mcpUrl);
  const host = new RawConnection(port);
  host.send(requestText(port, "POST", pathname, { ...JSON_TYPE, "Transfer-Encoding": "chunked" }));
  let sent = 0;
  while (!host.socket.destroyed && sent < 10_000 && host.text === "") {
    host.send(`400\r\n${"x".repeat(1024)}\r\n`);
    sent += 1;
    await sleep(1);
  }
  host.send(`0\r\n\r\n${requestText(port, "POST", pathname, JSON_TYPE, PING)}`);
  const all = await host.closed;
  assert.equal(rawAnswer(all).status, 413);
  assert.equal(count(all, "HTTP/1.1 "), 1, "nothing behind it is answered");
  assert.ok(sent < 2_000, `${sent} KiB were taken`);
});

test("calls sent at once on one connection are answered in order; those past the places are busy", async () => {
  const link = await probed.project.link();
  const app = await connectApp(link);
  const { pathname } = new URL(link.mcpUrl);
  const host = new RawConnection(port);
  const numbers = Array.from({ length: 10 }, (_, n) => n);
  host.send(
    numbers
      .map((n) => callText(`{"query":"${n}"}`, { id: String(n) }))
      .map((body) => requestText(port, "POST", pathname, JSON_TYPE, body))
      .join(""),
  );
  const calls = [await app.next("call"), await app.next("call")];
  calls.push(await app.next("call"), await app.next("call"));
  for (const { id, arguments: given } of calls.toReversed()) {
    app.send({ type: "result", id, content: [{ type: "text", text: `done ${given.query}` }] });
  }
  const text = await host.until((so) => count(so, "data: ") + count(so, "\r\n\r\n{") >= 10);
  assert.deepEqual(
    [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id)),
    numbers,
  );
  assert.equal(count(text, "done "), 4);
  assert.equal(count(text, "is busy with other calls"), 6);
  host.finish();
  await app.close();
});

test("a connection that breaks off cancels every call that was sent on it, running or behind", async () => {
  const link = await probed.project.link();
  const app = await connectApp(link);
  const { pathname } = new URL(link.mcpUrl);
  for (const end of ["finish", "reset"] as const) {
    const host = new RawConnection(port);
    const one = requestText(port, "POST", pathname, JSON_TYPE, callText('{"query":"x"}'));
    host.send(one + one + one);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await app.next("call"))["id"]);
    host[end]();
    const cancelled: string[] = [];
    for (let n = 0; n < 3; n += 1) cancelled.push((await app.next("cancel"))["id"]);
    assert.deepEqual(new Set(cancelled), new Set(ids), end);
  }
  assert.equal(probed.relay.relay.node.inFlight, 0);
  await app.close();
});
