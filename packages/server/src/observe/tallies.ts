import type { Counter, Metric, MetricObjectWithValues, MetricValue, Registry } from "prom-client";

/**
 * What happens with every call is counted in plain numbers and put into Prometheus's form at a
 * scrape: the library builds a text of the labels each time it is told something.
 */

/** A counter with two labels. */
export class TalliedCounter<First extends string, Second extends string> {
  readonly #counter: Counter;
  readonly #labels: readonly [string, string];
  readonly #tallies = new Map<First, Map<Second, { count: number; shown: number }>>();

  constructor(counter: Counter, labels: readonly [string, string]) {
    this.#counter = counter;
    this.#labels = labels;
  }

  /** Adds `count`, which may be 0 to have the pair of labels shown from the start. */
  add(first: First, second: Second, count = 1): void {
    let bySecond = this.#tallies.get(first);
    if (bySecond === undefined) this.#tallies.set(first, (bySecond = new Map()));
    const tally = bySecond.get(second);
    if (tally === undefined) bySecond.set(second, { count, shown: 0 });
    else tally.count += count;
  }

  /** Brings the library's counter up to date. */
  show(): void {
    const [firstLabel, secondLabel] = this.#labels;
    for (const [first, bySecond] of this.#tallies) {
      for (const [second, tally] of bySecond) {
        this.#counter.inc(
          { [firstLabel]: first, [secondLabel]: second },
          tally.count - tally.shown,
        );
        tally.shown = tally.count;
      }
    }
  }
}

type Series = { readonly buckets: number[]; sum: number; count: number };

/** A histogram of seconds with one label or none. */
export class TalliedHistogram<Label extends string = never> {
  readonly #definition: { readonly name: string; readonly help: string };
  readonly #bounds: readonly number[];
  readonly #label: string | null;
  readonly #series = new Map<Label | null, Series>();

  /** `bounds` are the buckets' upper ends in seconds, ascending; `label` is the label's name. */
  constructor(
    definition: { readonly name: string; readonly help: string },
    bounds: readonly number[],
    label: string | null,
    registry: Registry,
  ) {
    this.#definition = definition;
    this.#bounds = bounds;
    this.#label = label;
    // A registry asks its metrics for their name and their values, and for nothing else.
    const metric = { name: definition.name, get: () => this.#read() };
    registry.registerMetric(metric as unknown as Metric);
    if (label === null) this.#seriesOf(null);
  }

  observe(seconds: number, value: Label | null = null): void {
    const series = this.#seriesOf(value);
    series.sum += seconds;
    series.count += 1;
    const bounds = this.#bounds;
    for (let at = 0; at < bounds.length; at += 1) {
      if (seconds > (bounds[at] ?? 0)) continue;
      series.buckets[at] = (series.buckets[at] ?? 0) + 1;
      return;
    }
  }

  #seriesOf(value: Label | null): Series {
    const known = this.#series.get(value);
    if (known !== undefined) return known;
    const series: Series = { buckets: this.#bounds.map(() => 0), sum: 0, count: 0 };
    this.#series.set(value, series);
    return series;
  }

  #read(): Pick<MetricObjectWithValues<MetricValue<string>>, "name" | "help" | "values"> & {
    readonly type: string;
  } {
    const { name, help } = this.#definition;
    const values: (MetricValue<string> & { metricName: string })[] = [];
    for (const [value, { buckets, sum, count }] of this.#series) {
      const own = value === null || this.#label === null ? {} : { [this.#label]: value };
      let below = 0;
      for (const [at, bound] of this.#bounds.entries()) {
        below += buckets[at] ?? 0;
        values.push({ metricName: `${name}_bucket`, labels: { le: bound, ...own }, value: below });
      }
      values.push({ metricName: `${name}_bucket`, labels: { le: "+Inf", ...own }, value: count });
      values.push({ metricName: `${name}_sum`, labels: own, value: sum });
      values.push({ metricName: `${name}_count`, labels: own, value: count });
    }
    return { name, help, type: "histogram", values };
  }
}
