import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { AccountId, CallId, ProjectId } from "@relay/protocol";
import type { OpenedMonth } from "../core/ledger-book.ts";
import { monthNamed } from "../core/ledger-month.ts";
import { openLog } from "../observe/log.ts";
import { StoreError } from "../store/store.ts";
import { LedgerQuota } from "./ledger-quota.ts";
import { StillClock, settled } from "./test/still-clock.ts";

const OCTOBER = Date.UTC(2026, 9, 13);
const NOTES = "notes" as ProjectId;
const ACCOUNT = "account" as AccountId;
let calls = 0;
const newCallId = (): CallId => `c_${(calls += 1)}` as CallId;

function month(changes: Partial<OpenedMonth> = {}, name = "2026-10"): OpenedMonth {
  return {
    month: monthNamed(name),
    segmentId: 1,
    segment: { mode: "prepaid", allowance: 2, priceMicros: 1_000, countedAtStart: 0 },
    counted: 0,
    earlierSpentMicros: 0,
    capMicros: null,
    account: { accountId: ACCOUNT, balanceMicros: 3_000, creditsMicros: 3_000, credits: 1 },
    ...changes,
  };
}

/** A store that opens a month when a test says so. */
class Books {
  readonly asked: {
    readonly projectId: ProjectId;
    readonly month: string;
    answer(opened: OpenedMonth | null): Promise<void>;
    fail(): Promise<void>;
  }[] = [];

  openMonth(projectId: ProjectId, name: string): Promise<OpenedMonth | null> {
    return new Promise((resolve, reject) => {
      this.asked.push({
        projectId,
        month: name,
        answer: (opened) => {
          resolve(opened);
          return settled();
        },
        fail: () => {
          reject(new StoreError("unavailable", "the disk is full"));
          return settled();
        },
      });
    });
  }
}

function open(projectsMax = 10) {
  const books = new Books();
  const clock = new StillClock(OCTOBER);
  const log = openLog("silent");
  const quota = new LedgerQuota({ store: books, clock, log, projectsMax });
  const ask = (project = NOTES, callId = newCallId(), at = OCTOBER) =>
    quota.reserve(project, callId, at);
  return { books, clock, quota, ask };
}

test("the first calls of a month wait for one read, and all others are decided at once", async () => {
  const { books, ask, clock } = open();
  const first = [ask(), ask(), ask()];
  assert.equal(books.asked.length, 1);
  await books.asked[0]?.answer(month());
  assert.deepEqual(await Promise.all(first.map(async (call) => call)), [
    "admitted",
    "admitted",
    "admitted",
  ]);
  assert.deepEqual([ask(), ask(), ask()], ["admitted", "admitted", "quota_exceeded"]);
  assert.equal(books.asked.length, 1);
  assert.equal(clock.timers, 0);
});

test("what is given back can be taken again, what is spent can't, and neither twice", async () => {
  const { books, quota, ask } = open();
  const [one, two, three] = [newCallId(), newCallId(), newCallId()];
  const first = ask(NOTES, one);
  await books.asked[0]?.answer(
    month({ account: { ...month().account, creditsMicros: 0, balanceMicros: 0 } }),
  );
  assert.equal(await first, "admitted");
  assert.equal(quota.segmentOf(one), 1);
  assert.deepEqual([ask(NOTES, two), ask(NOTES, three)], ["admitted", "quota_exceeded"]);
  quota.release(NOTES, one);
  quota.release(NOTES, one);
  assert.equal(quota.segmentOf(one), null);
  assert.deepEqual([ask(), ask()], ["admitted", "quota_exceeded"]);
  quota.spend(NOTES, two);
  quota.release(NOTES, two);
  assert.equal(ask(), "quota_exceeded");
  assert.equal(quota.reservations, 1);
});

test("a store that is away, or has no such project, ends the call as busy, and the next asks again", async () => {
  const { books, ask } = open();
  const failing = ask();
  await books.asked[0]?.fail();
  assert.equal(await failing, "busy");
  const missing = ask();
  await books.asked[1]?.answer(null);
  assert.equal(await missing, "busy");
  const good = ask();
  await books.asked[2]?.answer(month());
  assert.equal(await good, "admitted");
});

test("a store that is silent for 5 s ends the call as busy; what it says later still counts", async () => {
  const { books, clock, ask } = open();
  const call = ask();
  await clock.advance(4_999);
  let verdict: unknown = null;
  void Promise.resolve(call).then((late) => (verdict = late));
  await settled();
  assert.equal(verdict, null);
  await clock.advance(1);
  assert.equal(verdict, "busy");
  await books.asked[0]?.answer(month());
  assert.equal(ask(), "admitted");
});

test("what was read before a change is read again, and reservations stay", async () => {
  const { books, quota, ask } = open();
  const first = ask();
  quota.projectChanged(NOTES);
  await books.asked[0]?.answer(month({ capMicros: 99_000 }));
  assert.equal(books.asked.length, 2);
  await books.asked[1]?.answer(month({ capMicros: 1_000 }));
  assert.equal(await first, "admitted");
  assert.deepEqual([ask(), ask(), ask()], ["admitted", "admitted", "cap_reached"]);
  quota.projectChanged(NOTES);
  const raised = ask();
  await books.asked[2]?.answer(month({ capMicros: 2_000 }));
  assert.equal(await raised, "admitted");
  assert.equal(ask(), "cap_reached");
});

test("a new segment's calls are told apart from those that were admitted before it", async () => {
  const { books, quota, ask } = open();
  const before = newCallId();
  const first = ask(NOTES, before);
  await books.asked[0]?.answer(month());
  await first;
  quota.projectChanged(NOTES);
  const after = newCallId();
  const second = ask(NOTES, after);
  const segment = { mode: "prepaid", allowance: 0, priceMicros: 3_000, countedAtStart: 0 } as const;
  await books.asked[1]?.answer(month({ segmentId: 2, segment }));
  assert.equal(await second, "admitted");
  assert.deepEqual([quota.segmentOf(before), quota.segmentOf(after)], [1, 2]);
  assert.equal(ask(), "quota_exceeded");
});

test("a month begins at 00:00 UTC, with the calls of the one before still in it", async () => {
  const { books, quota, ask } = open();
  const end = Date.UTC(2026, 10, 1);
  const late = newCallId();
  const october = ask(NOTES, late, end - 1);
  const segment = { mode: "quota", allowance: 1, priceMicros: 0, countedAtStart: 0 } as const;
  await books.asked[0]?.answer(month({ segment }));
  assert.equal(await october, "admitted");
  assert.equal(ask(NOTES, newCallId(), end - 1), "quota_exceeded");
  const november = ask(NOTES, newCallId(), end);
  assert.equal(books.asked[1]?.month, "2026-11");
  await books.asked[1]?.answer(month({ segmentId: 2, segment }, "2026-11"));
  assert.equal(await november, "admitted");
  assert.equal(ask(NOTES, newCallId(), end), "quota_exceeded");
  // The call of October ends in November, and gives back October's place.
  assert.equal(quota.segmentOf(late), 1);
  quota.release(NOTES, late);
  assert.equal(ask(NOTES, newCallId(), end), "quota_exceeded");
  assert.equal(ask(NOTES, newCallId(), end - 1), "admitted");
});

test("all projects of an account share its balance, and a credit counts at once, in any order", async () => {
  const { books, quota, ask } = open();
  const other = "other" as ProjectId;
  const segment = { mode: "prepaid", allowance: 0, priceMicros: 2_000, countedAtStart: 0 } as const;
  const [one, two] = [ask(), ask(other)];
  await books.asked[0]?.answer(month({ segment }));
  await books.asked[1]?.answer(month({ segment, segmentId: 2 }));
  assert.deepEqual([await one, await two], ["admitted", "quota_exceeded"]);
  const account = { accountId: ACCOUNT, balanceMicros: 0, creditsMicros: 0 };
  quota.credited({ ...account, creditsMicros: 7_000, credits: 3 });
  quota.credited({ ...account, creditsMicros: 4_000, credits: 2 });
  assert.deepEqual([ask(other), ask(), ask()], ["admitted", "admitted", "quota_exceeded"]);
});

test("projects without reservations are forgotten when there are too many, others never", async () => {
  const { books, quota, ask } = open(2);
  const held = newCallId();
  for (let n = 0; n < 5; n += 1) {
    const callId = n === 0 ? held : newCallId();
    const project = `p${n}` as ProjectId;
    const call = ask(project, callId);
    await books.asked.at(-1)?.answer(month({ segmentId: n + 1 }));
    assert.equal(await call, "admitted");
    if (n > 0) quota.release(project, callId);
  }
  assert.equal(quota.projects, 2);
  assert.equal(quota.segmentOf(held), 1);
  assert.equal(ask("p0" as ProjectId), "admitted");
  assert.equal(typeof ask("p1" as ProjectId), "object");
});
