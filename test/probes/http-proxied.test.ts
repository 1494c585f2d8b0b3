/** What stands between Relay and a host must have no reason to hold a stream back or to change it. */
import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import { connectApp } from "../e2e/harness.ts";
import { callText } from "../e2e/calls-rows.ts";
import { RawConnection, rawAnswer, requestText } from "../e2e/host-raw.ts";
import { Probed } from "./probed.ts";

const probed = await Probed.open();
after(() => probed[Symbol.asyncDispose]());
afterEach(() => probed.assertUndisturbed());

const { port } = probed.relay;

test("a stream tells a proxy not to hold it back, change it or compress it, whatever the host accepts", async () => {
  const link = await probed.project.link();
  const app = await connectApp(link);
  const { pathname } = new URL(link.mcpUrl);
  for (const encoding of ["gzip, br, zstd", "identity;q=0, gzip", "*"]) {
    const headers = { "Content-Type": "application/json", "Accept-Encoding": encoding };
    const host = new RawConnection(port);
    host.send(requestText(port, "POST", pathname, headers, callText('{"query":"x"}')));
    const { id } = await app.next("call");
    const opened = rawAnswer(await host.until((text) => text.includes(": open\n\n")));
    assert.equal(opened.headers.get("x-accel-buffering"), "no", encoding);
    assert.equal(opened.headers.get("cache-control"), "no-cache, no-transform", encoding);
    assert.equal(opened.headers.get("content-encoding"), undefined, encoding);
    app.send({ type: "result", id, content: [{ type: "text", text: "plain ".repeat(500) }] });
    await host.until((text) => text.includes("plain plain"));
    host.finish();
    await host.closed;
  }
  await app.close();
});

test("line breaks, event syntax, NUL and line separators in an answer stay inside its one event", async () => {
  const link = await probed.project.link();
  const said = "a\r\n\n\ndata: x\n\nevent: y\r\rid: 1\n: \u2028\u2029\u0085\u0000\u000b\ufeffz";
  const app = await connectApp(link, {
    onCall: () => ({ type: "result", content: [{ type: "text", text: said }] }),
  });
  const { pathname } = new URL(link.mcpUrl);
  const headers = { "Content-Type": "application/json", Connection: "close" };
  const host = new RawConnection(port);
  host.send(requestText(port, "POST", pathname, headers, callText('{"query":"x"}')));
  const { body } = rawAnswer(await host.closed);
  const [line, ...more] = body.split(/\r\n|\r|\n/).filter((one) => one.startsWith("data:"));
  assert.deepEqual(more, []);
  assert.equal(JSON.parse((line ?? "").slice(5)).result.content[0].text, said);
  assert.doesNotMatch(body, /^id:/m);
  await app.close();
});
