import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { openRelay } from "../e2e/harness.ts";
import { commandOf } from "./client-packages.ts";
import { runClient } from "./client-process.ts";
import { clientTest } from "./client-test.ts";
import { connectFixtureApp } from "./fixture-app.ts";

/** The suite's frozen requirement sets; of each, what it runs without scoring and Relay passes. */
const REVISIONS = [
  { revision: "2025-11-25", unscored: ["json-schema-2020-12"] },
  {
    revision: "2026-07-28",
    unscored: [
      "json-schema-2020-12",
      "http-header-validation",
      "http-custom-header-server-validation",
    ],
  },
] as const;

for (const { revision, unscored } of REVISIONS) {
  const baseline = new URL(`baseline-${revision}.yml`, import.meta.url);

  clientTest(`the conformance suite fails only the baseline of ${revision}`, async (opened, t) => {
    const relay = opened.use(await openRelay());
    const link = await relay.link();
    await connectFixtureApp(link);
    const required = ["--requirements", revision, "--expected-failures", fileURLToPath(baseline)];
    const run = await runClient(
      commandOf("@modelcontextprotocol/conformance", "conformance"),
      ["server", "--url", link.mcpUrl, ...required],
      t.signal,
    );
    const summary = run.stdout.slice(run.stdout.indexOf("=== SUMMARY ==="));
    t.diagnostic(/^Total: .*$/m.exec(summary)?.[0] ?? "no summary");
    assert.equal(run.code, 0, `${summary}\n${run.stderr}`);
    for (const name of unscored) {
      assert.match(summary, new RegExp(`^✓ ${name}: [1-9]\\d* passed, 0 failed$`, "m"));
    }
  });

  const measured = new URL(
    `../../../shared/data/conformance/baseline-${revision}.yml`,
    import.meta.url,
  );
  const skip = existsSync(measured) ? false : "the shared measurements are not here";
  test(`the baseline of ${revision} lists what was measured, no more`, { skip }, () => {
    assert.deepEqual(entriesOf(baseline), entriesOf(measured));
  });
}

function entriesOf(file: URL): string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => /^ *- /.test(line))
    .map((line) => line.replace(/^ *- /, "").trim())
    .toSorted();
}
