import assert from "node:assert/strict";
import { test } from "node:test";
import { TOKEN_SHAPES, isUuid, parseToken } from "@relay/protocol";
import type { TokenKind } from "@relay/protocol";
import {
  hashText,
  hashToken,
  mintAccountId,
  mintKeyId,
  mintLinkId,
  mintProjectId,
  mintRequestId,
  mintToken,
} from "./ids.ts";

const KINDS = Object.keys(TOKEN_SHAPES) as TokenKind[];

test("a minted token has the shape of its kind, and none is minted twice", () => {
  for (const kind of KINDS) {
    const tokens = Array.from({ length: 2000 }, () => mintToken(kind));
    for (const token of tokens) assert.equal(parseToken(kind, token), token);
    assert.equal(new Set(tokens).size, tokens.length);
  }
});

test("every character is as likely as every other, in every place", () => {
  const places = 32;
  const rounds = 20_000;
  const counts = new Map<string, number>();
  const firsts = new Map<string, number>();
  for (let round = 0; round < rounds; round += 1) {
    const body = mintToken("linkToken").slice("lt_".length);
    for (const character of body) counts.set(character, (counts.get(character) ?? 0) + 1);
    firsts.set(body.charAt(0), (firsts.get(body.charAt(0)) ?? 0) + 1);
  }
  // Seven standard deviations: one false alarm in billions of runs. A modulo bias is 25%.
  const within = (seen: ReadonlyMap<string, number>, total: number): void => {
    assert.equal(seen.size, 62);
    const mean = total / 62;
    for (const [character, count] of seen) {
      assert.ok(Math.abs(count - mean) < 7 * Math.sqrt(mean), `${character}: ${count} of ${mean}`);
    }
  };
  within(counts, rounds * places);
  within(firsts, rounds);
});

test("ids are UUIDs of version 7 that begin with their time, so that they sort by age", () => {
  const now = Date.UTC(2026, 9, 12, 10, 3);
  for (const mint of [mintLinkId, mintProjectId, mintAccountId, mintKeyId]) {
    const ids = [0, 1, 2, 1000, 10 ** 9].map((later) => mint(now + later));
    assert.deepEqual(ids, ids.toSorted());
    for (const id of ids) {
      assert.ok(isUuid(id));
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    assert.equal(Number.parseInt(mint(now).replace("-", "").slice(0, 12), 16), now);
    assert.notEqual(mint(now), mint(now));
  }
});

test("a request id is req_ and such a UUID without its dashes", () => {
  assert.match(mintRequestId(Date.now()), /^req_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
});

test("a token is looked up by its SHA-256", () => {
  assert.equal(
    hashToken("abc").toString("hex"),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});

test("a content hash is of the parts, not of what they are together", () => {
  assert.match(hashText("a"), /^[0-9a-f]{64}$/);
  assert.equal(hashText("a", "b"), hashText("a", "b"));
  const different = [["ab"], ["a", "b"], ["", "ab"], ["ab", ""], ["b", "a"], ["1:a"], []];
  assert.equal(new Set(different.map((parts) => hashText(...parts))).size, different.length);
});
