import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteCache } from "./byte-cache.ts";
import { prepareSchema } from "./schema/prepare.ts";
import type { PreparedSchema } from "./schema/prepare.ts";

test("a schema is found under its hash, and only there", () => {
  const cache = new ByteCache(1_000_000);
  const schema = prepared({ type: "object" });
  cache.put("a", schema);
  assert.equal(cache.get("a"), schema);
  assert.equal(cache.get("b"), undefined);
});

test("the cache never holds more bytes than it may, whatever is put", () => {
  const cache = new ByteCache(10_000);
  for (let index = 0; index < 500; index += 1) {
    const names = Array.from({ length: index % 60 }, (_, place) => `name${place}`);
    cache.put(`h${index}`, prepared({ enum: names }));
    assert.ok(cache.bytes <= 10_000, `${cache.bytes} bytes after ${index}`);
  }
  assert.ok(cache.bytes > 5_000);
});

test("what was asked for least recently goes first", () => {
  const schema = prepared({ type: "string" });
  const cache = new ByteCache(3 * (schema.bytes + 200));
  for (const hash of ["a", "b", "c"]) cache.put(hash, schema);
  cache.get("a");
  cache.put("d", schema);
  assert.equal(cache.get("b"), undefined);
  for (const hash of ["a", "c", "d"]) assert.equal(cache.get(hash), schema, hash);
});

test("putting the same hash again counts its bytes once", () => {
  const cache = new ByteCache(1_000_000);
  cache.put("a", prepared({ type: "string" }));
  const once = cache.bytes;
  cache.put("a", prepared({ type: "string" }));
  assert.equal(cache.bytes, once);
});

test("a schema larger than the whole cache is not kept and drives nothing out", () => {
  const small = prepared({ type: "string" });
  const cache = new ByteCache(small.bytes + 300);
  cache.put("small", small);
  cache.put("large", prepared({ enum: ["x".repeat(10_000)] }));
  assert.equal(cache.get("large"), undefined);
  assert.equal(cache.get("small"), small);
});

function prepared(schema: unknown): PreparedSchema {
  const preparation = prepareSchema(schema);
  assert.ok(preparation.ok);
  return preparation.schema;
}
