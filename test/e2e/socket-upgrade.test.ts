/** How a connection becomes a socket, or does not (SPEC 5 and 14). */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, test } from "node:test";
import { TestApp, connectApp, helloOf, openRelay } from "./harness.ts";
import type { TestLink } from "./harness.ts";
import { OPCODES, RawApp, frameBytes } from "./socket-client.ts";

const relay = await openRelay();
after(() => relay[Symbol.asyncDispose]());

const REQUEST_ID = /^req_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

test("an upgrade is answered with 101 and a request id, and without compression", async () => {
  const link = await relay.link();
  const app = new RawApp(link.socketUrl, {
    headers: { "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits" },
  });
  const { status, headers } = await app.answered();
  assert.equal(status, 101);
  assert.match(headers.get("x-request-id") ?? "", REQUEST_ID);
  assert.equal(headers.get("sec-websocket-extensions"), null);
  app.tcp.write(Buffer.concat([Buffer.from([0xc1, 0x80]), Buffer.alloc(4)]));
  assert.equal((await app.ended).code, 1002, "a compressed frame is a protocol error");
});

test("a handshake that is none is refused as a REST error with its request id", async () => {
  const { socketUrl } = await relay.link();
  const refusals = [
    [{ headers: { "Sec-WebSocket-Key": "" } }, 400, "VALIDATION_ERROR"],
    [{ headers: { "Sec-WebSocket-Key": "short" } }, 400, "VALIDATION_ERROR"],
    [{ headers: { "Sec-WebSocket-Version": "7" } }, 400, "VALIDATION_ERROR"],
    [{ method: "POST" }, 400, "VALIDATION_ERROR"],
    [{ path: "/v1/sockets" }, 404, "NOT_FOUND"],
    [{ path: "/v1/socket/" }, 404, "NOT_FOUND"],
    [{ headers: { Host: "evil.example" } }, 421, "MISDIRECTED"],
    [{ headers: { Host: "bad host" }, path: "/\x7f" }, 400, "VALIDATION_ERROR"],
    [{ headers: { "X-Long": "x".repeat(17_000) } }, 431, "VALIDATION_ERROR"],
  ] as const;
  for (const [options, status, code] of refusals) {
    const app = new RawApp(socketUrl, options);
    const answer = await app.answered();
    app.destroy();
    assert.equal(answer.status, status, JSON.stringify(options).slice(0, 100));
    const requestId = answer.headers.get("x-request-id") ?? "";
    assert.match(requestId, REQUEST_ID);
    const { error } = JSON.parse(answer.body);
    assert.deepEqual(error, { code, message: error.message, requestId });
    assert.notEqual(error.message, "");
  }
});

test("a plain GET of the socket's address gets 426", async () => {
  const answer = await relay.rest("GET", "/v1/socket", null);
  assert.equal(answer.status, 426);
  assert.equal(answer.headers.get("upgrade"), "websocket");
  assert.equal(answer.body["error"].code, "UPGRADE_REQUIRED");
  const app = new RawApp(`${relay.url}/v1/socket`, { headers: { Connection: "close" } });
  assert.equal((await app.answered()).status, 426, "no Connection: Upgrade, no upgrade");
});

test("the socket's address is there with and without the prefix of the public URL", async () => {
  await using behind = await openRelay({ RELAY_PUBLIC_URL: "http://relay.example/base" });
  const made = await fetch(`http://127.0.0.1:${behind.port}/base/v1/operator/projects`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${behind.operatorToken}`,
      "Content-Type": "application/json",
    },
    body: '{"name":"Notes"}',
  });
  const { publishableKey } = (await made.json()) as { publishableKey: string };
  const created = await fetch(`http://127.0.0.1:${behind.port}/v1/links`, {
    method: "POST",
    headers: { Authorization: `Bearer ${publishableKey}` },
  });
  const link = (await created.json()) as TestLink;
  assert.equal(link.socketUrl, "ws://relay.example/base/v1/socket");
  assert.ok(link.mcpUrl.startsWith("http://relay.example/base/v1/mcp/ut_"));
  for (const path of ["/base/v1/socket", "/v1/socket", "/relay/v1/socket"]) {
    const socketUrl = `ws://127.0.0.1:${behind.port}${path}`;
    const app = await connectApp({ ...link, socketUrl });
    await app.close();
  }
  const wrong = new RawApp(`ws://127.0.0.1:${behind.port}/other/v1/socket`);
  assert.equal((await wrong.answered()).status, 404);
  wrong.destroy();
});

test("an address may hold so many sockets without a hello, then gets 503 with Retry-After", async () => {
  await using small = await openRelay({
    RELAY_PENDING_SOCKETS_PER_IP: "2",
    RELAY_TRUST_PROXY: "1",
  });
  const link = await small.link();
  const from = (ip: string) => ({ "X-Forwarded-For": `10.9.9.9, ${ip}` });
  const open = async (ip: string): Promise<TestApp> => {
    const app = new TestApp(link.socketUrl, { headers: from(ip) });
    await app.opened();
    return app;
  };
  const statusOf = async (ip: string): Promise<number> => {
    const app = new RawApp(link.socketUrl, { headers: from(ip) });
    const { status, headers, body } = await app.answered();
    app.destroy();
    if (status !== 101) {
      assert.equal(headers.get("retry-after"), "5");
      assert.equal(JSON.parse(body).error.code, "UNAVAILABLE");
    }
    return status;
  };
  const first = await open("203.0.113.1");
  const second = await open("203.0.113.1");
  assert.equal(await statusOf("203.0.113.1"), 503);
  const other = await open("203.0.113.2");
  first.send(helloOf(link));
  await first.next("ready");
  const third = await open("203.0.113.1");
  assert.equal(await statusOf("203.0.113.1"), 503, "a hello gave one place back, no more");
  await second.close();
  await untilOpen(() => open("203.0.113.1"));
  const v6 = [await open("2001:db8:0:1::1"), await open("2001:db8:0:1:ffff::2")];
  assert.equal(await statusOf("2001:db8:0:1::3"), 503, "IPv6 counts by its /64");
  assert.equal(await statusOf("2001:db8:0:2::3"), 101);
  for (const app of [first, third, other, ...v6]) app.socket.terminate();
});

/** Tries until a place is free: the end of a socket takes its moment. */
async function untilOpen(open: () => Promise<TestApp>): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const app = await open().catch(() => null);
    if (app === null) continue;
    app.socket.terminate();
    return;
  }
  assert.fail("the place was not given back");
}

test("resets at any moment of an upgrade or a hello leave nothing behind", async () => {
  await using small = await openRelay({ RELAY_PENDING_SOCKETS_PER_IP: "20" });
  const link = await small.link();
  const hello = frameBytes(OPCODES.text, JSON.stringify(helloOf(link)));
  for (let round = 0; round < 60; round += 1) {
    const app = new RawApp(link.socketUrl, {
      behind: hello.subarray(0, Math.floor((hello.length * round) / 59)),
    });
    await new Promise((resolve) => app.tcp.once("connect", resolve));
    if (round % 2 === 1) await app.answered();
    if (round % 3 === 0) await new Promise(setImmediate);
    app.tcp.resetAndDestroy();
  }
  for (const half of ["GET /v1/socket HTTP/1.1\r\nHost: x", "GET /v1/so", "\r\n", "\x16\x03\x01"]) {
    const tcp = connect(small.port, "127.0.0.1");
    tcp.on("error", () => undefined);
    await new Promise((resolve) => tcp.write(half, resolve));
    tcp.resetAndDestroy();
  }
  const apps: TestApp[] = [];
  for (let tries = 0; apps.length < 20 && tries < 500; tries += 1) {
    const app = new TestApp(link.socketUrl);
    const isOpen = await app.opened().then(
      () => true,
      () => false,
    );
    if (isOpen) apps.push(app);
  }
  assert.equal(apps.length, 20, "every place is free again");
  for (const app of apps) app.socket.terminate();
  const live = await connectApp(link);
  await live.close();
});
