import { strict as assert } from "node:assert";
import { test } from "node:test";
import { alertsDue } from "./ledger-alerts.ts";
import type { AlertFacts } from "./ledger-alerts.ts";
import { admit, sameTerms, spentIn, standingOf, termsOf } from "./ledger.ts";
import type { AdmissionFacts, Segment } from "./ledger.ts";

const PREPAID: Segment = { mode: "prepaid", allowance: 5, priceMicros: 1_000, countedAtStart: 0 };

const facts = (changes: Partial<AdmissionFacts>): AdmissionFacts => ({
  segment: PREPAID,
  counted: 5,
  spentMicros: 0,
  capMicros: null,
  availableMicros: 1_000,
  ...changes,
});

test("a segment's calls cost nothing up to the allowance and the price each beyond it", () => {
  assert.deepEqual(
    [0, 4, 5, 6, 8].map((counted) => spentIn(PREPAID, counted)),
    [0, 0, 0, 1_000, 3_000],
  );
  const unlimited = { ...PREPAID, allowance: null };
  assert.equal(spentIn(unlimited, 1_000_000), 0);
});

test("a segment bills none of the calls before it, however low its allowance is", () => {
  const later = { ...PREPAID, allowance: 2, countedAtStart: 7 };
  assert.deepEqual(
    [7, 8, 9].map((counted) => spentIn(later, counted)),
    [0, 1_000, 2_000],
  );
});

test("a call is admitted if it is free, whatever the cap and the balance", () => {
  assert.equal(admit(facts({ counted: 4, capMicros: 0, availableMicros: -9 })), "admitted");
  assert.equal(
    admit(facts({ segment: { ...PREPAID, priceMicros: 0 }, availableMicros: -9 })),
    "admitted",
  );
});

test("a paid call must fit the cap, then the balance, to the last micro-unit", () => {
  assert.equal(admit(facts({})), "admitted");
  assert.equal(admit(facts({ availableMicros: 999 })), "quota_exceeded");
  assert.equal(admit(facts({ capMicros: 1_000 })), "admitted");
  assert.equal(admit(facts({ capMicros: 999, availableMicros: 0 })), "cap_reached");
  assert.equal(admit(facts({ capMicros: 3_000, spentMicros: 2_001 })), "cap_reached");
});

test("in mode quota there is the allowance and nothing else", () => {
  const segment = { ...PREPAID, mode: "quota", priceMicros: 0 } as const;
  assert.equal(admit(facts({ segment, counted: 4, capMicros: 0 })), "admitted");
  assert.equal(admit(facts({ segment, capMicros: 0 })), "quota_exceeded");
  assert.equal(admit(facts({ segment: { ...segment, allowance: null } })), "admitted");
});

test("terms are what the mode makes of the settings", () => {
  const settings = { freeCallsPerMonth: 5, priceMicrosPerCall: 7 };
  assert.deepEqual(termsOf("off", settings), { mode: "off", allowance: null, priceMicros: 0 });
  assert.deepEqual(termsOf("quota", settings), { mode: "quota", allowance: 5, priceMicros: 0 });
  assert.deepEqual(termsOf("prepaid", settings), { mode: "prepaid", allowance: 5, priceMicros: 7 });
  assert.ok(
    sameTerms(termsOf("off", settings), termsOf("off", { ...settings, freeCallsPerMonth: 1 })),
  );
  assert.ok(
    !sameTerms(
      termsOf("quota", settings),
      termsOf("prepaid", { ...settings, priceMicrosPerCall: 0 }),
    ),
  );
});

test("the calls left are the free ones and those that cap and balance both pay for", () => {
  const base = {
    segment: PREPAID,
    counted: 3,
    spentMicros: 0,
    capMicros: 10_000,
    balanceMicros: 4_999,
  };
  const left = (changes: object) => standingOf({ ...base, ...changes }).callsLeft;
  assert.equal(left({}), 2 + 4);
  assert.equal(left({ capMicros: 1_500 }), 2 + 1);
  assert.equal(left({ capMicros: null }), 2 + 4);
  assert.equal(left({ capMicros: 0 }), 2);
  assert.equal(left({ balanceMicros: -1 }), 2);
  assert.equal(left({ counted: 9, spentMicros: 4_000, capMicros: 5_000 }), 1);
  assert.equal(left({ segment: { ...PREPAID, priceMicros: 0 } }), null);
  assert.equal(left({ segment: { ...PREPAID, allowance: null } }), null);
  const quota = { ...PREPAID, mode: "quota" } as const;
  assert.deepEqual(standingOf({ ...base, segment: quota }), {
    allowance: 5,
    allowanceLeft: 2,
    spentMicros: 0,
    spendCapMicros: null,
    balanceMicros: 4_999,
    callsLeft: 2,
  });
});

const alertFacts = (changes: Partial<AlertFacts>): AlertFacts => ({
  segment: { ...PREPAID, allowance: 10 },
  counted: 0,
  spentMicros: 0,
  capMicros: 10_000,
  balanceMicros: 100_000,
  lowBalanceMicros: 5_000,
  paying: true,
  ...changes,
});

const dueIn = (changes: Partial<AlertFacts>, raised = 0): string[] =>
  alertsDue(alertFacts(changes), raised).map(({ type, percent }) => `${type} ${percent}`);

test("alerts are due at 50, 80 and 100 % of the allowance and of the cap, and at a low balance", () => {
  assert.deepEqual(dueIn({ counted: 4 }), []);
  assert.deepEqual(dueIn({ counted: 5 }), ["allowance.reached 50"]);
  assert.deepEqual(dueIn({ counted: 8 }, 1), ["allowance.reached 80"]);
  assert.deepEqual(dueIn({ counted: 10 }, 3), ["allowance.reached 100"]);
  assert.deepEqual(dueIn({ spentMicros: 4_999 }), []);
  assert.deepEqual(dueIn({ spentMicros: 5_000 }), ["spend_cap.reached 50"]);
  assert.deepEqual(dueIn({ spentMicros: 8_000 }, 8), ["spend_cap.reached 80"]);
  assert.deepEqual(dueIn({ spentMicros: 9_000 }, 24), []);
  assert.deepEqual(dueIn({ spentMicros: 10_000 }, 24), ["spend_cap.reached 100"]);
  assert.deepEqual(dueIn({ balanceMicros: 4_999 }), ["balance.low null"]);
  assert.deepEqual(dueIn({ balanceMicros: 4_999, paying: false }), []);
  assert.deepEqual(dueIn({ balanceMicros: 5_000 }), []);
});

test("a cap that no further call fits under is reached in full, and no alert comes twice", () => {
  assert.deepEqual(dueIn({ capMicros: 10_500, spentMicros: 10_000 }, 24), [
    "spend_cap.reached 100",
  ]);
  assert.deepEqual(dueIn({ counted: 10, spentMicros: 10_000, balanceMicros: 0 }, 127), []);
});

test("a cap or an allowance of 0, no limit at all, and the modes without money raise no alert of them", () => {
  const nothing = { segment: { ...PREPAID, allowance: 0 }, capMicros: 0, counted: 9 };
  assert.deepEqual(dueIn(nothing), []);
  const unlimited = { segment: { ...PREPAID, allowance: null }, capMicros: null, counted: 9 };
  assert.deepEqual(dueIn({ ...unlimited, spentMicros: 9 }), []);
  const quota = { segment: { ...PREPAID, mode: "quota", allowance: 10 } as const, counted: 5 };
  assert.deepEqual(dueIn({ ...quota, spentMicros: 10_000, balanceMicros: 0 }), [
    "allowance.reached 50",
  ]);
  assert.deepEqual(dueIn({ segment: { ...PREPAID, mode: "off" }, counted: 9 }), []);
});
