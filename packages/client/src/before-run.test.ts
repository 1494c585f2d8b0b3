import assert from "node:assert/strict";
import { test } from "node:test";
import * as z from "zod";
import type { BeforeRun, Verdict } from "./call-runner.ts";
import { settled } from "./test/fake-clock.ts";
import { Stage } from "./test/test-app.ts";
import { tool } from "./tool.ts";

/** An app with one destructive tool that counts its runs, online. */
async function guarded(beforeRun: BeforeRun) {
  const stage = new Stage();
  const runs: unknown[] = [];
  const remove = tool("remove_note", {
    description: "Removes a note",
    input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
    annotations: { destructiveHint: true },
    run: ({ id }) => {
      runs.push(id);
      return "Removed.";
    },
  });
  const app = await stage.online({ tools: [remove], beforeRun });
  return { stage, app, runs, link: stage.relay.link };
}

test("beforeRun sees the tool with its annotations and the arguments before anything runs", async () => {
  const asked: unknown[] = [];
  const { link, runs, app } = await guarded(({ tool: { name, annotations }, arguments: args }) => {
    asked.push([name, annotations, args]);
    return runs.length === 0;
  });
  assert.equal((await link.call("remove_note", { id: "7" })).text, "Removed.");
  assert.deepEqual(asked, [["remove_note", { destructiveHint: true }, { id: "7" }]]);
  assert.deepEqual(runs, ["7"]);
  assert.deepEqual(app.calls, ["remove_note asking", "remove_note running", "remove_note done"]);
});

for (const [what, verdict, text] of [
  ["false", false, "The person did not allow remove_note to run."],
  ["a reason", { deny: "Not while you are on a train." }, "Not while you are on a train."],
  ["nothing", undefined, "The person did not allow remove_note to run."],
  ["null", null, "The person did not allow remove_note to run."],
  ["a truthy value", "yes", "The person did not allow remove_note to run."],
] as const) {
  test(`only true lets a tool run: ${what} does not`, async () => {
    // What a type forbids, plain JavaScript may still return.
    const { link, runs, app } = await guarded(() => verdict as Verdict);
    const answer = await link.call("remove_note", { id: "7" });
    assert.deepEqual([answer.outcome, answer.text], ["tool_error", text]);
    assert.deepEqual(runs, []);
    assert.equal(app.calls.at(-1), "remove_note denied");
  });
}

for (const how of ["throws", "rejects"]) {
  test(`a beforeRun that ${how} lets nothing run`, async () => {
    const { stage, link, runs } = await guarded(() => {
      if (how === "throws") throw new Error("no dialog here");
      return Promise.reject(new Error("no dialog here"));
    });
    assert.equal((await link.call("remove_note", { id: "7" })).text, "no dialog here");
    assert.deepEqual(runs, []);
    await stage.clock.pass(0);
    assert.equal(stage.clock.timers, 1);
  });
}

test("a call that nobody allows is denied 10 s before the deadline, and the dialog is told", async () => {
  const signals: AbortSignal[] = [];
  const deadlines: number[] = [];
  const { stage, link, runs } = await guarded(({ signal, deadline }) => {
    signals.push(signal);
    deadlines.push(deadline);
    return new Promise<boolean>(() => undefined);
  });
  const startedAt = stage.clock.wall();
  const answer = link.call("remove_note", { id: "7" });
  await stage.clock.pass(169_999);
  assert.equal(signals[0]?.aborted, false);
  await stage.clock.pass(1);
  assert.equal((await answer).text, "The person did not allow remove_note to run in time.");
  assert.equal(signals[0]?.aborted, true);
  assert.deepEqual(deadlines, [startedAt + 170_000]);
  assert.deepEqual(runs, []);
});

test("a person who says yes too late runs nothing", async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const { stage, link, runs } = await guarded(() => promise);
  const answer = link.call("remove_note", { id: "7" });
  await stage.clock.pass(170_000);
  resolve(true);
  await answer;
  await settled();
  assert.deepEqual(runs, []);
});

for (const how of ["cancelled", "lost"] as const) {
  test(`a call that is ${how} while the person is asked ends the question and runs nothing`, async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const signals: AbortSignal[] = [];
    const { stage, app, link, runs } = await guarded(({ signal }) => {
      signals.push(signal);
      return promise;
    });
    const host = new AbortController();
    const answer = link.call("remove_note", { id: "7" }, { signal: host.signal });
    await settled();
    if (how === "cancelled") host.abort();
    else stage.relay.drop();
    await answer;
    await settled();
    assert.equal(signals[0]?.aborted, true);
    resolve(true);
    await settled();
    assert.deepEqual(runs, []);
    assert.deepEqual(app.calls, ["remove_note asking", `remove_note ${how}`]);
  });
}

test("with a short time to answer, half of it is for the question", async () => {
  const stage = new Stage({ limits: { callTimeoutSeconds: 4 } });
  await stage.online({ beforeRun: () => new Promise<boolean>(() => undefined) });
  const answer = stage.relay.link.call("echo");
  await stage.clock.pass(2_000);
  assert.match((await answer).text, /in time/);
});

for (const [asks, beforeRun] of [
  ["asks nobody", () => assert.fail("asked")],
  ["runs nothing", undefined],
] as const) {
  test(`a call that is cancelled while its arguments are checked ${asks}`, async () => {
    const stage = new Stage();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const slow = tool("slow", {
      description: "Checks its arguments somewhere else",
      input: z.object({}).refine(() => promise),
      run: () => assert.fail("ran"),
    });
    const app = await stage.online({ tools: [slow], ...(beforeRun && { beforeRun }) });
    const host = new AbortController();
    const answer = stage.relay.link.call("slow", {}, { signal: host.signal });
    await settled();
    host.abort();
    await answer;
    await settled();
    resolve(true);
    await settled();
    assert.deepEqual(app.calls, ["slow cancelled"]);
  });
}
