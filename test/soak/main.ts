/**
 * `npm run soak -- --minutes N [--sockets N] [--rate N] [--seed N]
 * [--call-timeout N] [--storm-every N]`: a Relay under mixed traffic and
 * reconnect storms, each call's end predicted. Exits with 1 if one ended otherwise.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { reportText } from "./report.ts";
import { soak } from "./soak.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    sockets: { type: "string", default: "2000" },
    rate: { type: "string", default: "300" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    "call-timeout": { type: "string", default: "30" },
    "storm-every": { type: "string", default: "30" },
  },
});

const above0 = (name: keyof typeof values): number => {
  const number = Number(values[name]);
  if (!(number > 0)) throw new Error(`--${name} takes a number above 0`);
  return number;
};

const options = {
  minutes: above0("minutes"),
  sockets: Math.ceil(above0("sockets")),
  rate: above0("rate"),
  seed: above0("seed"),
  callTimeoutSeconds: above0("call-timeout"),
  stormEverySeconds: above0("storm-every"),
  say: (line: string) => void process.stdout.write(`  ${line}\n`),
};
process.stdout.write(
  `Soak: ${options.sockets} sockets, ${options.rate} calls a second for ${options.minutes} minutes, seed ${options.seed}\n`,
);
const report = await soak(options);
process.stdout.write(reportText(report));
// The apps' sockets are still open on this side.
process.exit(report.book.unexplained === 0 ? 0 : 1);
