/**
 * Where a request ends and what it is for must never be a matter of opinion: what two servers could
 * read in two ways is refused, and what follows it on the connection is not read (RFC 9112).
 */
import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import { RawConnection, exchange, rawAnswer } from "../e2e/host-raw.ts";
import type { RawAnswer } from "../e2e/host-raw.ts";
import { Probed } from "./probed.ts";

const probed = await Probed.open();
after(() => probed[Symbol.asyncDispose]());
afterEach(() => probed.assertUndisturbed());

const { pathname } = new URL((await probed.project.link()).mcpUrl);
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const BYTES = Buffer.byteLength(PING);
const LENGTH = `Content-Length: ${BYTES}`;
const CHUNKED = "Transfer-Encoding: chunked";
/** A request that would be answered if what stands before it ended where an attacker wants it to. */
const SMUGGLED = `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${LENGTH}\r\n\r\n${PING}`;

type Cases = Readonly<Record<string, string>>;

/** A POST of a ping; `lines` are its headers besides Host and Content-Type. */
function posted(
  lines: readonly string[],
  body = PING,
  start = `POST ${pathname} HTTP/1.1`,
): string {
  const head = [start, "Host: localhost", "Content-Type: application/json", ...lines];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

function chunks(extension = "", trailers = ""): string {
  return `${BYTES.toString(16)}${extension}\r\n${PING}\r\n0\r\n${trailers}\r\n`;
}

/** Each is answered with `status` once, as an error of the edge, and ends the connection. */
async function assertRefused(cases: Cases, status: number): Promise<void> {
  for (const [what, text] of Object.entries(cases)) {
    const answer = await exchange(probed.relay.port, Buffer.from(text + SMUGGLED, "latin1"));
    assert.equal(answer.status, status, what);
    assert.equal(answer.headers.get("connection"), "close", what);
    const { error } = JSON.parse(answer.body);
    assert.equal(error.code, "VALIDATION_ERROR", what);
    assert.equal(error.requestId, answer.headers.get("x-request-id"), what);
    assert.match(error.requestId, /^req_/, what);
  }
}

/** Sends a request, then a ping behind it on the same connection; the second must be answered. */
async function assertRead(what: string, text: string): Promise<RawAnswer> {
  const host = new RawConnection(probed.relay.port);
  host.send(Buffer.from(text, "latin1"));
  const first = await host.until((so) => so.includes('"result":{}'));
  host.send(SMUGGLED);
  await host.until((so) => so.split('"result":{}').length === 3).catch(() => assert.fail(what));
  host.finish();
  await host.closed;
  return rawAnswer(first);
}

test("a body whose length is told in two ways, or in a way that is no length, gets 400", async () => {
  await assertRefused(
    {
      "length, then chunked": posted([LENGTH, CHUNKED], chunks()),
      "chunked, then length": posted([CHUNKED, LENGTH], chunks()),
      "two lengths that differ": posted([LENGTH, "Content-Length: 3"]),
      "two lengths alike": posted([LENGTH, LENGTH]),
      "a list of lengths": posted([`${LENGTH}, ${BYTES}`]),
      "a plus": posted([`Content-Length: +${BYTES}`]),
      "below nothing": posted(["Content-Length: -1"]),
      hexadecimal: posted(["Content-Length: 0x28"]),
      empty: posted(["Content-Length: "]),
      "a blank in it": posted(["Content-Length: 4 0"]),
      "beyond 64 bits": posted(["Content-Length: 99999999999999999999999"]),
    },
    400,
  );
});

test("a transfer coding that does not end in one chunked gets 400", async () => {
  await assertRefused(
    {
      unknown: posted(["Transfer-Encoding: xchunked"], chunks()),
      "chunked, then another": posted(["Transfer-Encoding: chunked, identity"], chunks()),
      "chunked twice": posted([CHUNKED, CHUNKED], chunks()),
      "chunked twice in one": posted(["Transfer-Encoding: chunked, chunked"], chunks()),
      identity: posted(["Transfer-Encoding: identity"], chunks()),
      "a vertical tab before it": posted(["Transfer-Encoding:\x0bchunked"], chunks()),
      empty: posted(["Transfer-Encoding: "], chunks()),
    },
    400,
  );
});

test("a head with folded lines, bare LF, bare CR, NUL or no proper name gets 400", async () => {
  await assertRefused(
    {
      "a folded line": posted([LENGTH, "X-A: b\r\n c"]),
      "folded with a tab": posted([LENGTH, "X-A: b\r\n\tc"]),
      "a blank before the first header": posted([LENGTH]).replace("Host", " Host"),
      "a blank before the colon": posted([`Content-Length : ${BYTES}`]),
      "LF alone, everywhere": posted([LENGTH]).replaceAll("\r\n", "\n"),
      "LF alone, once": posted([LENGTH, "X-A: b"]).replace("X-A: b\r\n", "X-A: b\n"),
      "CR alone": posted([LENGTH, "X-A: b\rX-B: c"]),
      "a NUL": posted([LENGTH, "X-A: b\0c"]),
      "a control character": posted([LENGTH, "X-A: b\x01c"]),
      "no name": posted([LENGTH, ": b"]),
      "no colon": posted([LENGTH, "nothing"]),
      "a blank in the target": posted([LENGTH], PING, `POST ${pathname} x HTTP/1.1`),
      "a byte over 127 in the target": posted([LENGTH], PING, "POST /\xff HTTP/1.1"),
      "a method nobody knows": posted([LENGTH], PING, `PSOT ${pathname} HTTP/1.1`),
      "HTTP/1.2": posted([LENGTH], PING, `POST ${pathname} HTTP/1.2`),
      "HTTP/2 without TLS": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    },
    400,
  );
});

test("a chunk with a size that is none, or that does not end where it says, gets 400", async () => {
  const of = (body: string): string => posted([CHUNKED], body);
  await assertRefused(
    {
      "beyond 64 bits": of(`FFFFFFFFFFFFFFFFF\r\n${PING}`),
      "below nothing": of(`-1\r\n${PING}`),
      "with 0x": of(`0x28\r\n${PING}\r\n0\r\n\r\n`),
      "with a blank behind": of(`28 \r\n${PING}\r\n0\r\n\r\n`),
      "longer than it says": of(`28\r\n${PING}0\r\n\r\n`),
      "LF alone": of(`28\n${PING}\n0\n\n`),
      "LF in an extension": of(chunks(";a\n5")),
      "an extension over 16 KiB": of(chunks(`;${"a".repeat(20_000)}`)),
      "a length among the trailers": of(chunks("", "Content-Length: 5\r\n")),
    },
    400,
  );
});

test("two Host headers get 400: a guard that looks at one could be led past by the other", async () => {
  await assertRefused(
    {
      "one of them foreign": posted([LENGTH, "Host: evil.example"]),
      "the foreign one first": posted([LENGTH]).replace("Host:", "Host: evil.example\r\nhost:"),
      alike: posted([LENGTH, "HOST: localhost"]),
    },
    400,
  );
});

test("too many headers, or too long ones, get 431, in the head, the target and the trailers", async () => {
  const flood = Array.from({ length: 5_000 }, (_, n) => `X-${n}: b`);
  await assertRefused(
    {
      "5,000 headers": posted([LENGTH, ...flood]),
      "5,000 headers without a value": posted([LENGTH, ...flood.map(() => "a:")]),
      "one of 17 KiB": posted([LENGTH, `X-A: ${"b".repeat(17_000)}`]),
      "one whose name has 17 KiB": posted([LENGTH, `${"X".repeat(17_000)}: b`]),
      "a target of 17 KiB": posted([LENGTH], PING, `POST /${"a".repeat(17_000)} HTTP/1.1`),
      "a trailer of 20 KiB": posted([CHUNKED], chunks("", `X-A: ${"b".repeat(20_000)}\r\n`)),
      "5,000 trailers": posted([CHUNKED], chunks("", "X-A: b\r\n".repeat(5_000))),
    },
    431,
  );
});

test("chunks with extensions and trailers, and odd but sound heads, are read as what they say", async () => {
  const sound: Cases = {
    "an extension": posted([CHUNKED], chunks(";a=b;c")),
    "one in quotes": posted([CHUNKED], chunks(';a="b c"')),
    "chunks of one byte": posted(
      [CHUNKED],
      `${PING.split("")
        .map((byte) => `1\r\n${byte}\r\n`)
        .join("")}0\r\n\r\n`,
    ),
    "a size with zeros before it": posted([CHUNKED], `000${chunks()}`),
    "in capitals": posted(["TRANSFER-ENCODING: CHUNKED"], chunks()),
    "a byte over 127 in a header": posted([LENGTH, "X-A: \xff\xfe"]),
    "empty lines before it": `\r\n\r\n${posted([LENGTH])}`,
  };
  for (const [what, text] of Object.entries(sound)) {
    assert.equal((await assertRead(what, text)).status, 200, what);
  }
});

test("a trailer is no header: it can neither allow nor refuse an Origin, or name a version", async () => {
  const trailers = "Origin: http://evil.example\r\nMCP-Protocol-Version: 1999-01-01\r\n";
  const answer = await assertRead("trailers", posted([CHUNKED], chunks("", trailers)));
  assert.equal(answer.status, 200);
});

test("HTTP/1.0 is answered and the connection ends", async () => {
  const start = `POST ${pathname} HTTP/1.0`;
  for (const text of [posted([LENGTH], PING, start), posted([CHUNKED], chunks(), start)]) {
    const answer = await exchange(probed.relay.port, text);
    assert.equal(answer.status, 200);
    assert.match(answer.body, /"result":\{\}/);
  }
});

test("a target with scheme and host is read as its path; its host must be one Relay answers for", async () => {
  for (const host of ["localhost", "127.0.0.1:1", "LOCALHOST"]) {
    const text = posted([LENGTH], PING, `POST http://${host}${pathname} HTTP/1.1`);
    assert.equal((await assertRead(host, text)).status, 200, host);
  }
  for (const host of ["evil.example", "localhost@evil.example", "evil.example:8787", ""]) {
    const text = posted([LENGTH], PING, `POST http://${host}${pathname} HTTP/1.1`);
    const answer = await exchange(probed.relay.port, text);
    assert.equal(answer.status, 421, host);
    assert.equal(JSON.parse(answer.body).error.code, "MISDIRECTED", host);
  }
  const bare =
    "GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  assert.equal((await exchange(probed.relay.port, bare)).status, 200);
});

test("a target that is no path gets 400 with a request id, whatever the method", async () => {
  const about = ["Host: localhost", "\r\n"].join("\r\n");
  const targets = ["OPTIONS *", "GET *", "POST *"];
  await assertRefused(
    Object.fromEntries(targets.map((start) => [start, `${start} HTTP/1.1\r\n${about}`])),
    400,
  );
  const connect = new RawConnection(probed.relay.port);
  connect.send(`CONNECT evil.example:443 HTTP/1.1\r\n${about}`);
  assert.equal(await connect.closed, "", "Relay is nobody's proxy");
});

test("Expect: 100-continue gets 100 and then, with the body, its answer; a refusal needs no body", async () => {
  const host = new RawConnection(probed.relay.port);
  host.send(posted([LENGTH, "Expect: 100-continue"], ""));
  assert.equal(await host.until((so) => so !== ""), "HTTP/1.1 100 Continue\r\n\r\n");
  host.send(PING);
  await host.until((so) => so.includes('"result":{}'));
  host.finish();
  const wait = ["Expect: 100-continue", "Connection: close"];
  for (const [status, text] of [
    [413, posted(["Content-Length: 100000", ...wait], "")],
    [415, posted([LENGTH, ...wait], "").replace("application/json", "text/plain")],
    [404, posted([LENGTH, ...wait], "").replace(pathname, "/v1/mcp/ut_nobody")],
    [403, posted([LENGTH, "Origin: null", ...wait], "")],
  ] as const) {
    const refused = new RawConnection(probed.relay.port);
    refused.send(text);
    const all = await refused.closed;
    const last = all.slice(all.lastIndexOf("HTTP/1.1 "));
    assert.equal(rawAnswer(last).status, status, all);
  }
});
