import assert from "node:assert/strict";
import { test } from "node:test";
import { METRICS, METRIC_NAMES } from "./metric-table.ts";
import { Metrics } from "./metrics.ts";
import type { Readings } from "./metrics.ts";

const READINGS: Readings = {
  relay_sockets_open: 3,
  relay_links_connected: 2,
  relay_receive_buffer_bytes: 10,
  relay_send_buffer_bytes: 20,
  relay_calls_in_flight: 1,
  relay_store_unwritten_rows: 4,
  relay_store_write_delay_seconds: 0.25,
  relay_store_writes_total: 100,
  relay_store_commits_total: 7,
};

test("a scrape has every metric of the table, with its type and help, and no other", async () => {
  const text = await new Metrics("1.2.3").scrape(READINGS);
  const declared = [...text.matchAll(/^# TYPE (.+)$/gm)].map(([, rest = ""]) => rest);
  const expected = METRIC_NAMES.map((name) => `${name} ${METRICS[name].type}`);
  assert.deepEqual(declared.toSorted(), expected.toSorted());
  for (const name of METRIC_NAMES) {
    assert.ok(text.includes(`# HELP ${name} ${METRICS[name].help}\n`), name);
  }
});

test("names say their unit, counters end in _total, and only the process's are not Relay's", () => {
  for (const name of METRIC_NAMES) {
    const rule = METRICS[name];
    assert.equal(name.endsWith("_total"), rule.type === "counter", name);
    assert.match(name, rule.from === "process" ? /^(relay|process|nodejs)_/ : /^relay_/);
    if (rule.type === "histogram") assert.match(name, /_seconds$/);
  }
});

test("what a part says of itself is shown as it is at the scrape, counters too", async () => {
  const metrics = new Metrics("1.2.3");
  await metrics.scrape(READINGS);
  const text = await metrics.scrape({
    ...READINGS,
    relay_store_writes_total: 150,
    relay_sockets_open: 0,
  });
  assert.match(text, /^relay_store_writes_total 150$/m);
  assert.match(text, /^relay_sockets_open 0$/m);
  assert.match(text, /^relay_store_write_delay_seconds 0.25$/m);
  assert.match(text, /^relay_build_info\{version="1.2.3"\} 1$/m);
});

test("a call is counted by outcome, and timed in seconds if it reached its app", async () => {
  const metrics = new Metrics("1");
  metrics.callEnded("ok", true);
  metrics.callEnded("cancelled", true);
  metrics.callEnded("cancelled", false);
  metrics.callAnswered("ok", { wholeMs: 30, appMs: 4 });
  metrics.rowWritten(2);
  const text = await metrics.scrape(READINGS);
  assert.match(text, /^relay_calls_total\{outcome="ok",counted="true"\} 1$/m);
  assert.match(text, /^relay_calls_total\{outcome="cancelled",counted="true"\} 1$/m);
  assert.match(text, /^relay_calls_total\{outcome="cancelled",counted="false"\} 1$/m);
  assert.match(text, /^relay_calls_total\{outcome="busy",counted="false"\} 0$/m);
  assert.match(text, /^relay_call_duration_seconds_bucket\{le="0.025",outcome="ok"\} 0$/m);
  assert.match(text, /^relay_call_duration_seconds_bucket\{le="0.05",outcome="ok"\} 1$/m);
  assert.match(text, /^relay_call_app_duration_seconds_sum\{outcome="ok"\} 0.004$/m);
  assert.match(text, /^relay_settle_delay_seconds_bucket\{le="0.0025"\} 1$/m);
});

test("a close code that an app makes up has no label of its own", async () => {
  const metrics = new Metrics("1");
  for (const code of [3000, 4999, 4002]) metrics.socketClosed({ code, by: "app" });
  metrics.socketClosed({ code: 4001, by: "relay" });
  const text = await metrics.scrape(READINGS);
  const closed = text.split("\n").filter((line) => line.startsWith("relay_sockets_closed_total{"));
  assert.deepEqual(closed, [
    'relay_sockets_closed_total{code="other",by="app"} 3',
    'relay_sockets_closed_total{code="4001",by="relay"} 1',
  ]);
});
