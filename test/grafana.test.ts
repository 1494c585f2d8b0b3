/** The dashboard in `docs/grafana` shows metrics that exist, by labels and values that they have. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { METRICS } from "../packages/server/src/observe/metric-table.ts";
import type { MetricRule } from "../packages/server/src/observe/metric-table.ts";

type Panel = {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
};

const file = join(import.meta.dirname, "..", "docs", "grafana", "relay.json");
// A checked border: the tests below look at each field they use.
const dashboard = JSON.parse(readFileSync(file, "utf8")) as { readonly panels: readonly Panel[] };
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const table: Readonly<Record<string, MetricRule>> = METRICS;

/** What Prometheus itself adds to every sample. */
const OWN_LABELS = ["job", "instance"];

/** The metric a name in an expression is of: a histogram has three names. */
function ruleOf(name: string): MetricRule | undefined {
  const [, base = "", part] = /^(.+?)(_bucket|_sum|_count)?$/.exec(name) ?? [];
  if (part === undefined) return table[name]?.type === "histogram" ? undefined : table[name];
  return table[base]?.type === "histogram" ? table[base] : undefined;
}

/** Those of `asked` that a label does not have; all of them where there is no such label. */
function notAmong(values: readonly string[] | string | undefined, asked: readonly string[]) {
  return asked.filter((one) => typeof values !== "object" || !values.includes(one));
}

test("every metric of the dashboard exists, and every metric there is is on it", () => {
  const used = new Set(
    expressions.flatMap((expr) => expr.match(/\b(?:relay|process|nodejs)_[a-z0-9_]+/g) ?? []),
  );
  assert.deepEqual(
    [...used].filter((name) => ruleOf(name) === undefined),
    [],
  );
  const shown = new Set([...used].map((name) => name.replace(/_(bucket|sum|count)$/, "")));
  assert.deepEqual(
    Object.keys(METRICS).filter((name) => !shown.has(name)),
    [],
  );
});

test("every label of the dashboard is one of its metric, with a value that it may have", () => {
  for (const expr of expressions) {
    const selectors = [...expr.matchAll(/([a-z_]+)\{([^}]*)\}/g)];
    assert.ok(selectors.length > 0, expr);
    const known = new Set(["le", "version", ...OWN_LABELS]);
    for (const [, name = "", matchers = ""] of selectors) {
      const labels: MetricRule["labels"] = ruleOf(name)?.labels ?? {};
      for (const label of Object.keys(labels)) known.add(label);
      for (const [, label = "", value = ""] of matchers.matchAll(/(\w+)=~?"([^"]*)"/g)) {
        const values = labels[label];
        if (OWN_LABELS.includes(label)) assert.equal(value, `$${label}`, expr);
        else assert.deepEqual(notAmong(values, value.split("|")), [], `${name} ${label}`);
      }
    }
    for (const [, names = ""] of expr.matchAll(/\b(?:by|on|group_left) \(([^)]*)\)/g)) {
      for (const label of names.split(", ")) assert.ok(known.has(label), `${label} in ${expr}`);
    }
  }
});

test("the dashboard's panels have ids of their own and do not overlap", () => {
  const { panels } = dashboard;
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const taken = new Set<string>();
  for (const { title, gridPos, type, targets } of panels) {
    assert.ok(gridPos.x + gridPos.w <= 24, title);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        assert.ok(!taken.has(`${x} ${y}`), `${title} overlaps another panel`);
        taken.add(`${x} ${y}`);
      }
    }
    assert.equal(type === "row", (targets ?? []).length === 0, title);
  }
});
