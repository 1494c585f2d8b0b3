import assert from "node:assert/strict";
import { test } from "node:test";
import { mintProjectId } from "../ids.ts";
import { Refusals } from "./refusals.ts";

const MINUTE_MS = 60_000;
const projectId = mintProjectId(1);
const other = mintProjectId(2);

function openAt(start: number) {
  let now = start;
  const refusals = new Refusals({ wall: () => now });
  return { refusals, pass: (ms: number) => (now += ms) };
}

test("an origin is listed for an hour after it was last refused, with how often it was", () => {
  const { refusals, pass } = openAt(1_000);
  refusals.originRefused(projectId, "https://a.example");
  pass(30 * MINUTE_MS);
  refusals.originRefused(projectId, "https://b.example");
  refusals.originRefused(projectId, "https://b.example");
  assert.deepEqual(
    refusals.originsOf(projectId).map(({ origin, count }) => [origin, count]),
    [
      ["https://b.example", 2],
      ["https://a.example", 1],
    ],
  );
  assert.deepEqual(refusals.originsOf(other), []);
  pass(30 * MINUTE_MS);
  assert.deepEqual(
    refusals.originsOf(projectId).map(({ origin }) => origin),
    ["https://b.example"],
  );
  pass(30 * MINUTE_MS);
  assert.deepEqual(refusals.originsOf(projectId), []);
});

test("an origin that is refused again counts as new", () => {
  const { refusals, pass } = openAt(1_000);
  for (const name of ["a", "b", "a"]) {
    refusals.originRefused(projectId, name);
    pass(1);
  }
  assert.deepEqual(
    refusals.originsOf(projectId).map(({ origin }) => origin),
    ["a", "b"],
  );
});

test("the last fault is the newest of both kinds, for an hour", () => {
  const { refusals, pass } = openAt(5);
  assert.equal(refusals.lastFault(projectId), null);
  refusals.originRefused(projectId, "https://a.example");
  refusals.helloRefused(projectId, 4400, "tools: must be an array");
  assert.deepEqual(refusals.lastFault(projectId), {
    what: "hello",
    code: 4400,
    text: "tools: must be an array",
    at: 5,
  });
  refusals.originRefused(projectId, "https://a.example");
  assert.deepEqual(refusals.lastFault(projectId), {
    what: "origin",
    origin: "https://a.example",
    at: 5,
  });
  assert.equal(refusals.lastFault(other), null);
  pass(60 * MINUTE_MS);
  assert.equal(refusals.lastFault(projectId), null);
});

test("of a project 20 origins are kept, of a long one 256 characters, and of all 2,000 projects", () => {
  const { refusals } = openAt(1_000);
  for (let at = 0; at < 50; at += 1) refusals.originRefused(projectId, `o${at}`);
  const origins = refusals.originsOf(projectId).map(({ origin }) => origin);
  assert.deepEqual([origins.length, origins[0], origins.at(-1)], [20, "o49", "o30"]);
  refusals.originRefused(projectId, "x".repeat(10_000));
  assert.equal(refusals.originsOf(projectId)[0]?.origin.length, 256);
  for (let at = 0; at < 1_999; at += 1) refusals.helloRefused(mintProjectId(at), 4429, null);
  assert.notEqual(refusals.lastFault(projectId), null);
  refusals.helloRefused(mintProjectId(1), 4429, null);
  assert.equal(refusals.lastFault(projectId), null);
});

test("a project that is gone is forgotten", () => {
  const { refusals } = openAt(1_000);
  refusals.originRefused(projectId, "https://a.example");
  refusals.forget(projectId);
  assert.deepEqual([refusals.originsOf(projectId), refusals.lastFault(projectId)], [[], null]);
});
