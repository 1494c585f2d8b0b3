/**
 * A reporter of `node --test`: what each layer took beside its budget, as a table at the end. The
 * seconds are those of a layer's files added up; three files run at a time.
 */
import { relative } from "node:path";

/** The first that a file's path begins with is its layer; seconds on two cores with nothing else to do. */
const LAYERS: readonly (readonly [name: string, place: string, budget: number])[] = [
  ["core", "packages/server/src/core/", 60],
  ["store", "packages/server/src/store/", 60],
  ["server, the rest", "packages/server/src/", 120],
  ["protocol", "packages/protocol/", 10],
  ["client", "packages/client/", 30],
  ["client, in runtimes", "test/client/", 120],
  ["clients", "test/conformance/", 120],
  ["wire", "test/e2e/", 240],
  ["page", "test/dashboard/", 400],
  ["simulation", "test/sim/", 30],
  ["mutants", "test/mutants/", 10],
  ["fuzz", "test/fuzz/", 60],
  ["probes", "test/probes/", 120],
  ["faults", "test/faults/", 180],
  ["oracles", "test/oracles/", 60],
  ["soak", "test/soak/", 120],
  ["the project itself", "test/", 60],
];

type Event = {
  readonly type: string;
  readonly data: { readonly file?: string; readonly duration_ms?: number };
};

export default async function* layers(events: AsyncIterable<Event>): AsyncGenerator<string> {
  const root = process.cwd();
  const seconds = new Map<string, number>();
  for await (const { type, data } of events) {
    if (type !== "test:summary" || data.file === undefined) continue;
    const file = relative(root, data.file);
    const layer = LAYERS.find(([, place]) => file.startsWith(place));
    if (layer === undefined) continue;
    const [name] = layer;
    seconds.set(name, (seconds.get(name) ?? 0) + (data.duration_ms ?? 0) / 1000);
  }
  yield "\nlayer                  seconds  budget\n";
  for (const [name, , budget] of LAYERS) {
    const took = seconds.get(name);
    if (took === undefined) continue;
    const over = took > budget ? "  over" : "";
    yield `${name.padEnd(22)} ${took.toFixed(0).padStart(7)} ${String(budget).padStart(7)}${over}\n`;
  }
}
