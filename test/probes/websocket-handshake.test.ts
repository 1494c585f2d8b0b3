/** How a connection asks to become a socket: every header wrong or odd, and too slowly (RFC 6455 4.2). */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, afterEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RawConnection, rawAnswer } from "../e2e/host-raw.ts";
import { helloOf } from "../e2e/harness.ts";
import { OPCODES, RawApp, frameBytes } from "../e2e/socket-client.ts";
import { DROPPED, Probed } from "./probed.ts";

const HELLO_MS = 1_000;
const probed = await Probed.open({ RELAY_HELLO_TIMEOUT_SECONDS: String(HELLO_MS / 1000) });
after(() => probed[Symbol.asyncDispose]());
afterEach(() => probed.assertUndisturbed());

const link = await probed.project.link();
const { pathname } = new URL(link.socketUrl);
const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
const UPGRADE = {
  Host: `127.0.0.1:${probed.relay.port}`,
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": KEY,
} as const;

/** An upgrade's text; `null` leaves a header out, two values make two lines of it. */
function upgradeText(
  changes: Readonly<Record<string, string | readonly string[] | null>>,
  start = `GET ${pathname} HTTP/1.1`,
): string {
  const lines = Object.entries({ ...UPGRADE, ...changes }).flatMap(([name, values]) =>
    values === null ? [] : [values].flat().map((value) => `${name}: ${value}`),
  );
  return `${[start, ...lines].join("\r\n")}\r\n\r\n`;
}

/** The status and headers of the answer, whose connection is then reset. */
async function answerTo(text: string): Promise<ReturnType<typeof rawAnswer>> {
  const connection = new RawConnection(probed.relay.port);
  connection.send(Buffer.from(text, "latin1"));
  const answer = rawAnswer(await connection.until((so) => so.includes("\r\n\r\n")));
  connection.reset();
  return answer;
}

test("the handshake's answer proves that the key was read, and offers nothing that was not asked for", async () => {
  const answer = await answerTo(upgradeText({}));
  assert.equal(answer.status, 101);
  const proof = createHash("sha1").update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
  assert.equal(answer.headers.get("sec-websocket-accept"), proof.digest("base64"));
  for (const name of ["sec-websocket-extensions", "sec-websocket-protocol", "set-cookie"]) {
    assert.equal(answer.headers.get(name), undefined, name);
  }
});

test("a handshake in other letters, with more tokens or more headers, is the same handshake", async () => {
  for (const changes of [
    { Upgrade: "WebSocket" },
    { Connection: "keep-alive, Upgrade" },
    { Connection: "upgrade", "Content-Length": "0" },
    { "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits, x-nobody" },
    { "Sec-WebSocket-Extensions": ["permessage-deflate", "permessage-deflate"] },
    { Cookie: "a=b", "X-Forwarded-For": "nonsense, , 1.2.3.4:5", Origin: "null" },
    { "Sec-WebSocket-Key": randomBytes(16).toString("base64") },
  ]) {
    const answer = await answerTo(upgradeText(changes));
    assert.equal(answer.status, 101, JSON.stringify(changes));
    assert.equal(answer.headers.get("sec-websocket-extensions"), undefined, "no compression");
  }
});

test("a handshake that is none gets a 4xx with a request id and never becomes a socket", async () => {
  const wrong: readonly (readonly [number, Parameters<typeof upgradeText>])[] = [
    [400, [{ "Sec-WebSocket-Key": null }]],
    [400, [{ "Sec-WebSocket-Key": "" }]],
    [400, [{ "Sec-WebSocket-Key": [KEY, KEY] }]],
    [400, [{ "Sec-WebSocket-Key": randomBytes(15).toString("base64") }]],
    [400, [{ "Sec-WebSocket-Key": randomBytes(20).toString("base64") }]],
    [400, [{ "Sec-WebSocket-Key": "\u00e9".repeat(22) + "==" }]],
    [400, [{ "Sec-WebSocket-Version": null }]],
    [400, [{ "Sec-WebSocket-Version": "0" }]],
    [400, [{ "Sec-WebSocket-Version": "14" }]],
    [400, [{ "Sec-WebSocket-Version": "13, 8" }]],
    [400, [{ "Sec-WebSocket-Protocol": ["a", "a"] }]],
    [400, [{ Host: null }]],
    [400, [{ Host: [UPGRADE.Host, "evil.example"] }]],
    [421, [{ Host: "evil.example" }]],
    [400, [{}, `POST ${pathname} HTTP/1.1`]],
    [400, [{}, `PUT ${pathname} HTTP/1.1`]],
    [426, [{ Connection: "close" }]],
    [426, [{ Connection: null }]],
    [426, [{ Upgrade: "h2c" }]],
    [426, [{ Upgrade: null, Connection: "close" }]],
    [404, [{}, "GET /v1/socket/x HTTP/1.1"]],
    [400, [{}, `GET ${pathname} HTTP/3.0`]],
    [400, [{ "Content-Length": "5", "Transfer-Encoding": "chunked" }]],
  ];
  for (const [status, [changes, start]] of wrong) {
    const answer = await answerTo(upgradeText(changes, start));
    const what = `${start ?? ""} ${JSON.stringify(changes)}`;
    assert.equal(answer.status, status, what);
    assert.match(answer.headers.get("x-request-id") ?? "", /^req_/, what);
    assert.equal(answer.headers.get("sec-websocket-accept"), undefined, what);
    assert.notEqual(JSON.parse(answer.body).error.message, "", what);
  }
});

test("frames in the same packet as the handshake are read, and those behind a refused one are not", async () => {
  const hello = frameBytes(OPCODES.text, JSON.stringify(helloOf(link)));
  const eager = new RawApp(link.socketUrl, { behind: hello });
  assert.equal((await eager.next())["type"], "ready");
  const refused = new RawApp(link.socketUrl, {
    behind: hello,
    headers: { "Sec-WebSocket-Version": "12" },
  });
  assert.equal((await refused.answered()).status, 400);
  await refused.ended;
  eager.send({ type: "ping" });
  assert.deepEqual(await eager.next(), { type: "pong" }, "the refused hello took nothing over");
  eager.destroy();
});

test("a WebSocket that begins with nonsense after 101 is dropped or told 1002, never answered", async () => {
  for (const text of ["GET / HTTP/1.1\r\n\r\n", "\u0016\u0003\u0001\u0002\u0000", "\0\0\0\0\0\0"]) {
    const app = new RawApp(link.socketUrl, { behind: Buffer.from(text, "latin1") });
    assert.equal((await app.ended).code, 1002, JSON.stringify(text));
    assert.equal(app.frames.length, 0);
  }
});

describe("slowly", { concurrency: true }, () => {
  test("a handshake that comes byte by byte is read, and the time for hello runs from its end", async () => {
    const connection = new RawConnection(probed.relay.port);
    const text = upgradeText({});
    for (let at = 0; at < text.length; at += 1) {
      connection.send(text[at] ?? "");
      await sleep(2 + HELLO_MS / text.length);
    }
    await connection.until((so) => so.startsWith("HTTP/1.1 101 "));
    const began = performance.now();
    await connection.closed;
    const tookMs = performance.now() - began;
    assert.ok(tookMs > HELLO_MS / 2, `${tookMs} ms: it was given its time`);
  });

  test("200 handshakes that never end get 408 after 10 s, though bytes keep coming, and stop nobody", async () => {
    const hosts = Array.from({ length: 200 }, () => new RawConnection(probed.relay.port));
    for (const host of hosts) host.send(`GET ${pathname} HTTP/1.1\r\nHost: localhost\r\n`);
    const began = performance.now();
    const drip = setInterval(() => hosts.forEach((host) => host.send("X-A: b\r\n")), 500);
    for (let round = 0; round < 5; round += 1) await probed.assertUndisturbed();
    const answers = await Promise.all(hosts.map(({ closed }) => closed));
    clearInterval(drip);
    const tookMs = performance.now() - began;
    assert.ok(tookMs > 9_000 && tookMs < 16_000, `${tookMs} ms`);
    assert.deepEqual([...new Set(answers.map((text) => rawAnswer(text).status))], [408]);
  });

  test("a hello that comes byte by byte, or not at all, is told so with 4400 when its time is over", async () => {
    const bytes = frameBytes(OPCODES.text, JSON.stringify(helloOf(link)));
    const dripping = await probed.silent();
    const pinging = await probed.silent();
    const silent = await probed.silent();
    let at = 0;
    const drip = setInterval(() => {
      if (dripping.tcp.writable) dripping.tcp.write(bytes.subarray(at, (at += 1)));
      if (pinging.tcp.writable) pinging.frame(OPCODES.ping, "still here");
    }, 50);
    for (const app of [dripping, pinging, silent]) {
      assert.equal((await app.ended).code, 4400);
      assert.equal(app.frames[0]?.["message"], "no hello within 1 seconds");
    }
    clearInterval(drip);
  });

  test("a hello cut off in the middle leaves the link to its older socket", async () => {
    const own = await probed.project.link();
    const app = await probed.ready(own);
    const bytes = frameBytes(OPCODES.text, JSON.stringify(helloOf(own)));
    for (const part of [1, 6, bytes.length - 1]) {
      const cut = await probed.silent();
      cut.tcp.write(bytes.subarray(0, part));
      cut.tcp.resetAndDestroy();
      assert.deepEqual(await cut.ended, DROPPED);
    }
    await app.wasRead();
    app.send({ type: "ping" });
    assert.deepEqual(await app.next(), { type: "pong" });
    app.destroy();
  });
});
