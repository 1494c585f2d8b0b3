import assert from "node:assert/strict";
import { test } from "node:test";
import { MinuteWindow, MinuteWindows } from "./rate.ts";

test("a window lasts 60 s from the first thing counted, and says how long it still is", () => {
  const window = new MinuteWindow();
  assert.equal(window.take(5_000, 2), 0);
  assert.equal(window.take(30_000, 2), 0);
  assert.equal(window.take(53_001, 2), 12);
  assert.equal(window.take(64_999, 2), 1);
  assert.equal(window.take(65_000, 2), 0);
});

test("what is refused does not use up a window", () => {
  const window = new MinuteWindow();
  assert.equal(window.take(0, 1), 0);
  for (let at = 1; at < 100; at += 1) assert.notEqual(window.take(at, 1), 0);
  assert.equal(window.take(60_000, 1), 0);
});

test("a limit that is raised counts at once", () => {
  const window = new MinuteWindow();
  window.take(0, 1);
  assert.equal(window.wait(1, 1), 60);
  assert.equal(window.wait(1, 2), 0);
});

test("what is given back can be taken again", () => {
  const window = new MinuteWindow();
  window.take(0, 1);
  window.giveBack();
  assert.equal(window.take(1, 1), 0);
});

test("a window of amounts is full once the limit is reached, however far it is passed", () => {
  const window = new MinuteWindow();
  window.add(0, 90);
  assert.equal(window.wait(0, 100), 0);
  window.add(0, 90);
  assert.equal(window.wait(0, 100), 60);
});

test("windows of different keys do not touch each other", () => {
  const windows = new MinuteWindows(10);
  assert.equal(windows.take("a", 0, 1), 0);
  assert.equal(windows.take("b", 0, 1), 0);
  assert.notEqual(windows.take("a", 1, 1), 0);
  assert.notEqual(windows.wait("b", 1, 1), 0);
  assert.equal(windows.wait("c", 1, 1), 0);
});

test("what is given back to a key can be taken again", () => {
  const windows = new MinuteWindows(10);
  windows.take("a", 0, 1);
  windows.giveBack("a");
  windows.giveBack("never seen");
  assert.equal(windows.take("a", 1, 1), 0);
  assert.notEqual(windows.take("a", 1, 1), 0);
});

test("past the most keys the oldest window is forgotten", () => {
  const windows = new MinuteWindows(2);
  for (const key of ["a", "b", "c"]) windows.take(key, 0, 1);
  assert.equal(windows.wait("a", 1, 1), 0);
  assert.notEqual(windows.wait("b", 1, 1), 0);
  assert.notEqual(windows.wait("c", 1, 1), 0);
});
