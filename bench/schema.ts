/**
 * What the schema interpreter costs, beside Ajv in the same process:
 * `node -C relay-source bench/schema.ts`. Ratios are what counts, the machine may be busy.
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Ajv2020 } from "ajv/dist/2020.js";
import { checkValue, stepsFor } from "../packages/server/src/core/schema/check.ts";
import { prepareSchema } from "../packages/server/src/core/schema/prepare.ts";
import type { PreparedSchema } from "../packages/server/src/core/schema/prepare.ts";
import { Steps } from "../packages/server/src/core/schema/steps.ts";
import { HOSTILE_CASES } from "../packages/server/src/core/schema/test/hostile-cases.ts";

const AJV_OPTIONS = {
  strict: false,
  validateFormats: false,
  validateSchema: false,
  addUsedSchema: false,
} as const;

const RANGE = {
  type: "object",
  properties: { from: { type: "number" }, to: { type: "number" } },
  required: ["from", "to"],
};

const FILTER = {
  type: "object",
  properties: {
    author: { type: ["string", "null"] },
    starred: { type: "boolean" },
    after: { type: "string", format: "date-time" },
    before: { type: "string", format: "date-time" },
    score: { anyOf: [{ type: "number", minimum: 0 }, { const: "any" }] },
  },
  additionalProperties: false,
};

/** About 1 KB of schema, as tools have it. */
function typicalSchema(folder: object): object {
  return {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, maxLength: 500, description: "What to look for" },
      folder: { type: "string", description: "Only notes in this folder", ...folder },
      limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
      offset: { type: "integer", minimum: 0 },
      sort: { enum: ["created", "updated", "title", "relevance"], default: "relevance" },
      tags: { type: "array", items: { type: "string", minLength: 1 }, uniqueItems: true },
      filter: FILTER,
      range: { $ref: "#/$defs/range" },
    },
    required: ["query"],
    additionalProperties: false,
    $defs: { range: RANGE },
  };
}

const TYPICAL_ARGUMENTS = JSON.stringify({
  query: "meeting with Ada",
  folder: "Work/2026",
  limit: 10,
  sort: "updated",
  tags: ["a", "todo", "x"],
  filter: { author: null, starred: true, score: 3.5 },
  range: { from: 1, to: 2 },
});

function prepared(text: string): PreparedSchema {
  const preparation = prepareSchema(JSON.parse(text));
  if (!preparation.ok) throw new Error(`${preparation.path} ${preparation.reason}`);
  return preparation.schema;
}

/**
 * Times two things in turns, so that both meet the same machine; nanoseconds a run in the quieter
 * rounds. `warmUp` runs go before: V8 takes its time until it has compiled a long function as well as
 * it can.
 */
function sideBySide(warmUp: number, runs: number, ours: () => void, theirs: () => void) {
  nanoseconds(warmUp, ours);
  nanoseconds(warmUp, theirs);
  const times = Array.from({ length: 41 }, () => ({
    ours: nanoseconds(runs, ours),
    theirs: nanoseconds(runs, theirs),
  }));
  return {
    ours: quiet(times.map((time) => time.ours)),
    theirs: quiet(times.map((time) => time.theirs)),
  };
}

function nanoseconds(runs: number, run: () => void): number {
  const start = process.hrtime.bigint();
  for (let index = 0; index < runs; index += 1) run();
  return Number(process.hrtime.bigint() - start) / runs;
}

/** The value at the lower decile: others on the machine can only add to a time. */
function quiet(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 10)] ?? NaN;
}

function benchCheck(name: string, folder: object): string[] {
  const text = JSON.stringify(typicalSchema(folder));
  const schema = prepared(text);
  const validate = new Ajv2020(AJV_OPTIONS).compile(JSON.parse(text));
  const values: unknown[] = Array.from({ length: 64 }, () => JSON.parse(TYPICAL_ARGUMENTS));
  let turn = 0;
  const { ours, theirs } = sideBySide(
    500_000,
    10_000,
    () => {
      turn = (turn + 1) & 63;
      expectFit(schema, values[turn]);
    },
    () => {
      turn = (turn + 1) & 63;
      if (!validate(values[turn])) throw new Error("Ajv says no");
    },
  );
  return row(`check, one tool, hot, ${name}`, ours, theirs, "≤ 3", ours / theirs);
}

/** As a relay meets it: many tools in turns, each called now and then. */
function benchManyTools(): string[] {
  const tools = 300;
  const ajv = new Ajv2020(AJV_OPTIONS);
  const text = JSON.stringify(typicalSchema({}));
  const texts = Array.from({ length: tools }, (_, at) => text.replaceAll("score", `score${at}`));
  const values: unknown[] = texts.map((_, at) =>
    JSON.parse(TYPICAL_ARGUMENTS.replaceAll("score", `score${at}`)),
  );
  const schemas = texts.map((each) => prepared(each));
  const validators = texts.map((each) => ajv.compile(JSON.parse(each)));
  let turn = 0;
  const ours = nanoseconds(tools * 200, () => {
    turn = (turn + 1) % tools;
    const schema = schemas[turn];
    if (schema !== undefined) expectFit(schema, values[turn]);
  });
  const theirs = nanoseconds(tools * 200, () => {
    turn = (turn + 1) % tools;
    if (validators[turn]?.(values[turn]) !== true) throw new Error("Ajv says no");
  });
  return row("check, 300 tools in turns, 200 calls each", ours, theirs, "≤ 3", ours / theirs);
}

function expectFit(schema: PreparedSchema, value: unknown): void {
  const steps = new Steps(stepsFor(TYPICAL_ARGUMENTS.length));
  const complaint = checkValue(schema, value, steps, "arguments");
  if (complaint !== null) throw new Error("Relay says no");
}

function benchPrepare(): string[] {
  const text = JSON.stringify(typicalSchema({}));
  const ajv = new Ajv2020(AJV_OPTIONS);
  const { ours, theirs } = sideBySide(
    200,
    20,
    () => void prepared(text),
    () => {
      const schema: object = JSON.parse(text);
      ajv.compile(schema);
      ajv.removeSchema(schema);
    },
  );
  return row("prepare / compile, from text", ours, theirs, "≥ 10", theirs / ours);
}

function row(name: string, ours: number, theirs: number, bar: string, ratio: number): string[] {
  return [name, `${ours.toFixed(0)} ns`, `${theirs.toFixed(0)} ns`, `${ratio.toFixed(2)} (${bar})`];
}

/** Heap kept by one prepared schema, over 2,000 of them with different texts. */
function benchMemory(): string[] {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const count = 2_000;
  const kept: PreparedSchema[] = [];
  const text = JSON.stringify(typicalSchema({}));
  const texts = Array.from({ length: count }, (_, at) => text.replaceAll("folder", `folder${at}`));
  collect();
  const before = process.memoryUsage().heapUsed;
  for (const each of texts) kept.push(prepared(each));
  collect();
  const bytes = (process.memoryUsage().heapUsed - before) / count;
  const estimate = kept.reduce((sum, schema) => sum + schema.bytes, 0) / kept.length;
  const kib = (size: number): string => `${(size / 1024).toFixed(1)} KiB`;
  return ["heap kept per prepared schema", kib(bytes), `${kib(estimate)} est.`, "≤ 20 KiB"];
}

interface HostileTime {
  readonly name: string;
  readonly prepareMs: number;
  readonly checkMs: number;
  readonly firstMs: number;
  readonly steps: number;
}

/** Times one hostile case: the CPU of its first run, and of the later ones on average. */
function timeHostile(name: string, schemaText: string, valueText: string): HostileTime {
  const raw: unknown = JSON.parse(schemaText);
  const value: unknown = JSON.parse(valueText);
  const start = process.threadCpuUsage();
  const preparation = prepareSchema(raw);
  const limit = stepsFor(Buffer.byteLength(valueText));
  let used = 0;
  const check = (): void => {
    if (!preparation.ok) return;
    const steps = new Steps(limit);
    checkValue(preparation.schema, value, steps, "arguments");
    used = steps.used;
  };
  check();
  const first = process.threadCpuUsage(start);
  const firstMs = (first.user + first.system) / 1_000;
  const prepareMs = cpuMs(() => void prepareSchema(raw));
  return { name, prepareMs, checkMs: preparation.ok ? cpuMs(check) : 0, firstMs, steps: used };
}

/**
 * The CPU of one run once the code is warm. The clock of a thread's CPU may tick in 4 ms only, so
 * runs are repeated until it shows.
 */
function cpuMs(run: () => void): number {
  for (let warmUp = 0; warmUp < 10; warmUp += 1) run();
  const start = process.threadCpuUsage();
  let runs = 0;
  let spent = 0;
  while (spent < 60_000 && runs < 2_000) {
    run();
    runs += 1;
    const now = process.threadCpuUsage(start);
    spent = now.user + now.system;
  }
  return spent / 1_000 / runs;
}

function benchHostile(): string[][] {
  const times = HOSTILE_CASES.map(({ name, schema, value }) =>
    timeHostile(name, JSON.stringify(schema), JSON.stringify(value)),
  );
  const worst = (time: HostileTime): number => Math.max(time.prepareMs, time.checkMs);
  return times
    .toSorted((a, b) => worst(b) - worst(a))
    .slice(0, 10)
    .map(({ name, prepareMs, checkMs, firstMs, steps }) => [
      name,
      `${prepareMs.toFixed(1)} ms`,
      `${checkMs.toFixed(1)} ms`,
      `${firstMs.toFixed(1)} ms`,
      `${steps}`,
    ]);
}

function print(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  for (const line of lines) {
    console.log(
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }
  console.log();
}

if (process.argv[2] === "hostile") {
  print(
    ["the hostile set's ten worst (CPU ≤ 25 ms)", "prepare", "check", "first of both", "steps"],
    benchHostile(),
  );
} else {
  // In a process of its own: first runs then meet code that is still cold.
  spawnSync(process.execPath, [...process.execArgv, import.meta.filename, "hostile"], {
    stdio: "inherit",
  });
  print(
    [`a typical tool (${JSON.stringify(typicalSchema({})).length} bytes)`, "Relay", "Ajv", "bar"],
    [
      benchCheck("no pattern", {}),
      benchCheck("one pattern", { pattern: "^[A-Za-z0-9 _/-]+$" }),
      benchManyTools(),
      benchPrepare(),
      benchMemory(),
    ],
  );
}
