/** Half a minute of `npm run soak`, with few sockets and at a rate that leaves the machine to others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { OUTCOME_NAMES } from "@relay/protocol";
import { reportText } from "./report.ts";
import { soak } from "./soak.ts";

/** It takes its 30 seconds where there is time for them. */
const skip =
  process.env["TEST_FULL"] === undefined && process.env["TEST_LONG"] === undefined
    ? "30 seconds: with TEST_FULL=1 and in npm run long"
    : false;
const seed = Number(process.env["SOAK_SEED"] ?? 20_261);

test(
  `under mixed traffic and storms every call ends as what was done to it explains (seed ${seed})`,
  { skip },
  async (t) => {
    const report = await soak({
      minutes: 0.5,
      sockets: 200,
      rate: 60,
      seed,
      callTimeoutSeconds: 10,
      stormEverySeconds: 4,
      say: () => undefined,
    });
    t.diagnostic(reportText(report));
    assert.equal(report.book.unexplained, 0, report.book.faults.join("\n"));
    assert.deepEqual([...report.outcomes.keys()].toSorted(), [...OUTCOME_NAMES].toSorted());
    assert.ok(report.storms >= 3, `${report.storms} storms`);
  },
);
