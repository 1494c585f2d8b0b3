/** What `/metrics` says, as samples a test can ask for. */
import assert from "node:assert/strict";
import type { TestRelay } from "./harness.ts";

export type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

/** Scrapes a Relay from its own machine. */
export async function scrape(relay: TestRelay): Promise<Samples> {
  const response = await fetch(`${relay.url}/metrics`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  return new Samples(await response.text());
}

export class Samples {
  readonly text: string;
  readonly all: readonly Sample[];

  constructor(text: string) {
    this.text = text;
    this.all = text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map(readSample);
  }

  /** The sum of a metric's samples that carry these labels. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.all
      .filter((sample) => sample.name === name)
      .filter((sample) => Object.entries(labels).every(([key, of]) => sample.labels[key] === of))
      .reduce((sum, sample) => sum + sample.value, 0);
  }
}

function readSample(line: string): Sample {
  const [, name = "", labelText = "", value = ""] =
    /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  assert.notEqual(name, "", `not a sample: ${line}`);
  const labels = Object.fromEntries(
    [...labelText.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = "", text = ""]) => [
      key,
      text,
    ]),
  );
  return { name, labels, value: Number(value) };
}
