/** UTF-8 in text messages: whole, cut anywhere, and invalid in every way (RFC 3629). */
import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import { post } from "../e2e/harness.ts";
import { callText } from "../e2e/calls-rows.ts";
import { OPCODES, frameBytes } from "../e2e/socket-client.ts";
import { NOT_UTF8, Probed } from "./probed.ts";

const probed = await Probed.open();
after(() => probed[Symbol.asyncDispose]());
afterEach(() => probed.assertUndisturbed());

/** Two fragments, cut before the byte at `cut`, with a ping between them. */
function inTwo(bytes: Buffer, cut: number): Buffer {
  return Buffer.concat([
    frameBytes(OPCODES.text, bytes.subarray(0, cut), false),
    frameBytes(OPCODES.ping, "between"),
    frameBytes(OPCODES.continuation, bytes.subarray(cut)),
  ]);
}

test("a text cut at every byte of its characters reaches the host byte for byte", async () => {
  const link = await probed.project.link();
  const app = await probed.ready(link);
  // One to four bytes each, the first and last of each length, a non-character and a mark.
  const text =
    "\u007f\u0080\u07ff\u0800\ud7ff\ue000\ufffd\uffff\u{10000}\u{10ffff}e\u0301\u6f22\u{1f642}";
  const length = Buffer.byteLength(text);
  for (let cut = 0; cut <= length; cut += 1) {
    const pending = post(link.mcpUrl, callText('{"query":"x"}'));
    const { id } = await app.next();
    const head = `{"type":"result","id":"${id}","content":[{"type":"text","text":"`;
    app.tcp.write(inTwo(Buffer.from(`${head}${text}"}]}`), Buffer.byteLength(head) + cut));
    const answer = await pending;
    assert.equal(answer.message["result"].content[0].text, text, `cut at ${cut}`);
  }
  app.destroy();
});

/** What is not UTF-8, in hex. */
const INVALID = {
  "a continuation byte alone": "80",
  "two of them": "bfbf",
  "a start of two bytes alone": "c3",
  "a start of two bytes, then a letter": "c320",
  "a start of three bytes with one": "e282",
  "a start of four bytes with two": "f09f99",
  "an overlong slash in two bytes": "c0af",
  "an overlong slash in three": "e080af",
  "an overlong slash in four": "f08080af",
  "an overlong NUL": "c080",
  "the last overlong of two bytes": "c1bf",
  "the last overlong of three": "e09fbf",
  "the last overlong of four": "f08fbfbf",
  "the first surrogate": "eda080",
  "the last surrogate": "edbfbf",
  "a pair of surrogates": "eda0bdedb88a",
  "beyond U+10FFFF": "f4908080",
  "a start of five bytes": "f888808080",
  "a start of six bytes": "fc8480808080",
  "the byte FE": "fe",
  "the byte FF": "ff",
} as const satisfies Record<string, string>;

test("a text that is not UTF-8 closes with 1007, whole and cut at every byte", async () => {
  const link = await probed.project.link();
  for (const [what, hex] of Object.entries(INVALID)) {
    const bad = Buffer.from(hex, "hex");
    const bytes = Buffer.concat([
      Buffer.from('{"type":"ping","x":"\u00e9'),
      bad,
      Buffer.from('\u00e9"}'),
    ]);
    const app = await probed.ready(link);
    app.tcp.write(frameBytes(OPCODES.text, bytes));
    assert.deepEqual(await app.ended, NOT_UTF8, what);
    assert.equal(app.frames.length, 1, `${what}: nothing of it was read`);
    const first = bytes.indexOf(bad);
    for (let cut = first; cut <= first + bad.length; cut += 1) {
      const silent = await probed.silent();
      silent.tcp.write(inTwo(bytes, cut));
      assert.deepEqual(await silent.ended, NOT_UTF8, `${what}, cut at ${cut - first}`);
    }
  }
});

test("a text that ends inside a character closes with 1007, however many fragments it came in", async () => {
  const bytes = Buffer.from('"\u{1f642}').subarray(0, -1);
  for (const pieces of [1, 2, bytes.length]) {
    const silent = await probed.silent();
    const size = Math.ceil(bytes.length / pieces);
    for (let at = 0; at < bytes.length; at += size) {
      const opcode = at === 0 ? OPCODES.text : OPCODES.continuation;
      silent.frame(opcode, bytes.subarray(at, at + size), at + size >= bytes.length);
    }
    assert.deepEqual(await silent.ended, NOT_UTF8, `${pieces} pieces`);
  }
});
