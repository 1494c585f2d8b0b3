/** `npm run bench`: every measurement, or those named: `npm run bench -- calls`. */
import { benchCalls } from "./calls.ts";
import { benchLists } from "./lists.ts";
import { benchMetrics } from "./metrics.ts";
import { benchMoney } from "./money.ts";
import { benchRetention } from "./retention.ts";
import { benchSockets } from "./sockets.ts";

const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  calls: benchCalls,
  sockets: benchSockets,
  lists: benchLists,
  retention: benchRetention,
  schema: async () => {
    await import("./schema.ts");
  },
  metrics: benchMetrics,
  money: benchMoney,
};

const wanted = process.argv.slice(2);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length === 0 || wanted.includes(name)) await bench();
}
