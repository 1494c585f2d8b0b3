import { LIMITS, defaultLimits, limitEnvName } from "@relay/protocol";
import type { LimitName, Limits } from "@relay/protocol";
import {
  ACCOUNT_SETTINGS,
  accountFaults,
  accountsConfig,
  brokenAccountSecret,
} from "./config-accounts.ts";
import type { AccountsConfig } from "./config-accounts.ts";
import {
  BILLING_MODES,
  FREE_CALLS_MAX,
  MONEY_MICROS_MAX,
  PRICE_MICROS_MAX,
} from "./core/ledger.ts";
import type { BillingMode } from "./core/ledger.ts";

/** One setting: how it is set, what it may be, and what it is for. */
export type Setting = {
  readonly key: string;
  readonly env: string;
  readonly flag: string;
  readonly kind: "text" | "secret" | "integer" | "number" | "switch" | "choice" | "url" | "path";
  readonly default: string;
  readonly doc: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly choices?: readonly string[];
};

const setting = (
  env: string,
  kind: Setting["kind"],
  fallback: string,
  doc: string,
  more: Pick<Setting, "minimum" | "maximum" | "choices"> = {},
): Setting => ({
  key: camelCase(env.slice("RELAY_".length)),
  env,
  flag: `--${env.slice("RELAY_".length).toLowerCase().replaceAll("_", "-")}`,
  kind,
  default: fallback,
  doc,
  ...more,
});

const EDGE_SETTINGS: readonly Setting[] = [
  setting("RELAY_HOST", "text", "127.0.0.1", "The address to listen on."),
  setting("RELAY_PORT", "integer", "8787", "The port to listen on; 0 takes a free one.", {
    minimum: 0,
    maximum: 65_535,
  }),
  setting(
    "RELAY_PUBLIC_URL",
    "url",
    "http://localhost:8787",
    "Where apps and developers reach this Relay; may carry a path prefix.",
  ),
  setting(
    "RELAY_MCP_PUBLIC_URL",
    "url",
    "",
    "The base of MCP URLs, if it is not the public URL: some hosts force a sign-in on any origin that also serves OAuth metadata.",
  ),
  setting(
    "RELAY_TRUST_PROXY",
    "integer",
    "0",
    "How many proxies stand in front: the client's address is that many from the right of X-Forwarded-For.",
    { minimum: 0, maximum: 16 },
  ),
];

const RUN_SETTINGS: readonly Setting[] = [
  setting("RELAY_DATA_DIR", "path", "./data", "The folder that holds everything Relay remembers."),
  setting(
    "RELAY_OPERATOR_TOKEN",
    "secret",
    "",
    "The operator's token (op_ and 32 base62 characters); made at the first start and kept in the data folder if not set.",
  ),
  setting(
    "RELAY_SEAL_KEY",
    "secret",
    "",
    "32 bytes in hex that seal rotated URLs until the app has them; kept in the data folder if not set.",
  ),
  setting("RELAY_LOG_LEVEL", "choice", "info", "The least important log line that is written.", {
    choices: ["debug", "info", "warn", "error"],
  }),
  setting(
    "RELAY_DURABILITY",
    "choice",
    "normal",
    "`full` survives a power cut to the last call row; `normal` may lose the last second of them.",
    { choices: ["normal", "full"] },
  ),
  setting(
    "RELAY_METRICS",
    "switch",
    "on",
    "Whether `GET /metrics` answers Prometheus: this machine itself, and whoever has the operator's token.",
  ),
  setting("RELAY_DRAIN_SECONDS", "number", "20", "How long calls in flight get when Relay stops.", {
    minimum: 0,
  }),
];

const BILLING_SETTINGS: readonly Setting[] = [
  setting(
    "RELAY_BILLING",
    "choice",
    "off",
    "How calls are paid for: `off` not at all, they are only counted; `quota` by a monthly allowance alone; `prepaid` by an allowance and then by credit.",
    { choices: BILLING_MODES },
  ),
  setting(
    "RELAY_FREE_CALLS_PER_MONTH",
    "integer",
    "1000",
    "The allowance that a new project starts with, for each month of UTC.",
    { minimum: 0, maximum: FREE_CALLS_MAX },
  ),
  setting(
    "RELAY_PRICE_MICROS_PER_CALL",
    "integer",
    "1000",
    "What a call past the allowance costs in a new project, in millionths.",
    { minimum: 0, maximum: PRICE_MICROS_MAX },
  ),
  setting(
    "RELAY_SPEND_CAP_MICROS",
    "integer",
    "10000000",
    "What a new project may spend in a month, in millionths, until its developer sets another cap; 0 allows free calls only.",
    { minimum: 0, maximum: MONEY_MICROS_MAX },
  ),
  setting(
    "RELAY_LOW_BALANCE_MICROS",
    "integer",
    "1000000",
    "A balance below this, in millionths, is told to the developer's webhook once a month.",
    { minimum: 0, maximum: MONEY_MICROS_MAX },
  ),
  setting(
    "RELAY_WEBHOOK_PRIVATE_ADDRESSES",
    "switch",
    "off",
    "Whether webhooks may go to this machine and to private networks, and over plain http.",
  ),
  setting(
    "RELAY_WEBHOOK_TIMEOUT_SECONDS",
    "number",
    "10",
    "How long a webhook's receiver may take to answer.",
    { minimum: 0.1, maximum: 60 },
  ),
  setting(
    "RELAY_WEBHOOK_RETRY_SECONDS",
    "number",
    "5",
    "The wait before a webhook is tried again; each further one is four times as long, up to 12 hours, ten tries in all.",
    { minimum: 0.1, maximum: 3_600 },
  ),
];

const LIMIT_NAMES: readonly LimitName[] =
  // The table's own keys.
  Object.keys(LIMITS) as LimitName[];

const LIMIT_SETTINGS: readonly Setting[] = LIMIT_NAMES.filter((name) => LIMITS[name].settable).map(
  (name) =>
    setting(
      limitEnvName(name),
      LIMITS[name].fraction ? "number" : "integer",
      String(LIMITS[name].value),
      `${LIMITS[name].title} (${LIMITS[name].unit}).`,
      { minimum: LIMITS[name].minimum, maximum: maximumOf(name) },
    ),
);

/** The most a limit may be: timers take their ms, and the WebSocket library its bytes, in 31 bits. */
function maximumOf(name: LimitName): number {
  if (name === "callsPerMinute") return LIMITS.callsPerMinuteMax.value;
  const most = 2 ** 31 - 1;
  return LIMITS[name].unit === "seconds" ? Math.floor(most / 1000) : most;
}

/** Every setting there is: `relay config` and the reference page are printed from this. */
export const SETTINGS: readonly Setting[] = [
  ...EDGE_SETTINGS,
  ...RUN_SETTINGS,
  ...BILLING_SETTINGS,
  ...ACCOUNT_SETTINGS.map((facts) => setting(...facts)),
  ...LIMIT_SETTINGS,
];

export type Config = {
  readonly host: string;
  readonly port: number;
  /** Without a trailing slash; `http://localhost:0` until port 0 has become a real one. */
  readonly publicUrl: string;
  readonly mcpPublicUrl: string;
  readonly trustProxy: number;
  readonly dataDir: string;
  readonly operatorToken: string | null;
  readonly sealKey: string | null;
  readonly billing: BillingMode;
  readonly money: MoneyConfig;
  readonly accounts: AccountsConfig;
  readonly logLevel: string;
  readonly durability: "normal" | "full";
  readonly metrics: boolean;
  readonly drainMs: number;
  readonly limits: Limits;
};

/** What belongs to billing; the first three are what new projects start with. */
export type MoneyConfig = {
  readonly freeCallsPerMonth: number;
  readonly priceMicrosPerCall: number;
  readonly spendCapMicros: number;
  readonly lowBalanceMicros: number;
  readonly webhookPrivateAddresses: boolean;
  readonly webhookTimeoutMs: number;
  readonly webhookRetryMs: number;
};

/** What is wrong with the configuration, one sentence a fault. */
export type ConfigFaults = { readonly ok: false; readonly faults: readonly string[] };

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads the configuration from environment variables and `--flag value` arguments (which win).
 * Unknown `RELAY_…` variables, bad values and values that contradict each other are faults.
 */
export function readConfig(
  env: Variables,
  flags: ReadonlyMap<string, string> = new Map(),
): { readonly ok: true; readonly config: Config } | ConfigFaults {
  const faults: string[] = [];
  for (const name of Object.keys(env)) {
    if (name.startsWith("RELAY_") && !SETTINGS.some((known) => known.env === name)) {
      faults.push(`${name} is not a setting of Relay; \`relay config\` lists them`);
    }
  }
  for (const [flag, value] of flags) {
    if (value === "") faults.push(`${flag} needs a value`);
    if (!SETTINGS.some((known) => known.flag === flag)) {
      faults.push(`${flag} is not a setting of Relay; \`relay config\` lists them`);
    }
  }
  const values = new Map<string, string>();
  for (const known of SETTINGS) {
    const given = flags.get(known.flag) ?? env[known.env];
    const value = given === undefined || given === "" ? known.default : given;
    const fault = given === undefined ? null : brokenValue(known, value);
    if (fault !== null) faults.push(`${known.env} ${fault}`);
    values.set(known.key, value);
  }
  if (faults.length > 0) return { ok: false, faults };
  const config = toConfig(values);
  const contradictions = [
    ...contradictionsIn(config),
    ...accountFaults((key) => values.get(key) ?? ""),
  ];
  return contradictions.length > 0 ? { ok: false, faults: contradictions } : { ok: true, config };
}

function brokenValue(known: Setting, value: string): string | null {
  if (value === known.default) return null;
  switch (known.kind) {
    case "integer":
    case "number":
      return brokenNumber(known, value);
    case "choice":
      return known.choices?.includes(value) === true
        ? null
        : `must be one of ${known.choices?.join(", ")}, not ${JSON.stringify(value)}`;
    case "switch":
      return value === "on" || value === "off" ? null : `must be on or off`;
    case "url":
      return brokenUrl(value);
    case "secret":
      return brokenSecret(known, value);
    case "text":
    case "path":
      return null;
  }
}

function brokenNumber(known: Setting, value: string): string | null {
  const shape = known.kind === "integer" ? /^\d+$/ : /^\d+(\.\d+)?$/;
  const bounds = [
    known.minimum === undefined ? "" : ` of at least ${known.minimum}`,
    known.maximum === undefined ? "" : ` and at most ${known.maximum}`,
  ].join("");
  const number = Number(value);
  const fits =
    shape.test(value) &&
    number <= Number.MAX_SAFE_INTEGER &&
    (known.minimum === undefined || number >= known.minimum) &&
    (known.maximum === undefined || number <= known.maximum);
  const noun = known.kind === "integer" ? "a whole number" : "a number";
  return fits ? null : `must be ${noun}${bounds}, not ${JSON.stringify(value)}`;
}

function brokenUrl(value: string): string | null {
  const url = URL.canParse(value) ? new URL(value) : null;
  const plain =
    url !== null &&
    (url.protocol === "http:" || url.protocol === "https:") &&
    url.search === "" &&
    url.hash === "" &&
    url.username === "" &&
    url.password === "";
  return plain
    ? null
    : `must be an http or https URL without query, fragment or user, not ${JSON.stringify(value)}`;
}

/** Never repeats the value. */
function brokenSecret(known: Setting, value: string): string | null {
  const ofAccounts = brokenAccountSecret(known.env, value);
  if (ofAccounts !== undefined) return ofAccounts;
  if (known.env === "RELAY_SEAL_KEY") {
    return /^[0-9a-fA-F]{64}$/.test(value) ? null : "must be 64 hexadecimal digits";
  }
  return /^op_[0-9A-Za-z]{32}$/.test(value)
    ? null
    : "must be op_ followed by 32 letters and digits";
}

function toConfig(values: ReadonlyMap<string, string>): Config {
  const text = (key: string): string => values.get(key) ?? "";
  const limits: Record<string, number> = { ...defaultLimits() };
  for (const name of LIMIT_NAMES) {
    if (LIMITS[name].settable) limits[name] = Number(text(name));
  }
  const port = Number(text("port"));
  const publicUrl = withoutSlash(
    values.get("publicUrl") === DEFAULT_PUBLIC_URL ? `http://localhost:${port}` : text("publicUrl"),
  );
  return {
    host: text("host"),
    port,
    publicUrl,
    mcpPublicUrl: withoutSlash(text("mcpPublicUrl")) || publicUrl,
    trustProxy: Number(text("trustProxy")),
    dataDir: text("dataDir"),
    operatorToken: text("operatorToken") || null,
    sealKey: text("sealKey") || null,
    // Checked against the table's choices.
    billing: text("billing") as BillingMode,
    money: {
      freeCallsPerMonth: Number(text("freeCallsPerMonth")),
      priceMicrosPerCall: Number(text("priceMicrosPerCall")),
      spendCapMicros: Number(text("spendCapMicros")),
      lowBalanceMicros: Number(text("lowBalanceMicros")),
      webhookPrivateAddresses: text("webhookPrivateAddresses") === "on",
      webhookTimeoutMs: Number(text("webhookTimeoutSeconds")) * 1000,
      webhookRetryMs: Number(text("webhookRetrySeconds")) * 1000,
    },
    accounts: accountsConfig(text),
    logLevel: text("logLevel"),
    durability: text("durability") === "full" ? "full" : "normal",
    metrics: text("metrics") === "on",
    drainMs: Number(text("drainSeconds")) * 1000,
    // Every name of the table was set above.
    limits: limits as Limits,
  };
}

const DEFAULT_PUBLIC_URL = "http://localhost:8787";

/** Pairs of values where one makes the other senseless (SPEC 12). */
function contradictionsIn({ limits, billing, money }: Config): string[] {
  const faults: string[] = [];
  const mustBeBelow = (lower: LimitName, upper: LimitName, mayEqual: boolean): void => {
    const fits = mayEqual ? limits[lower] <= limits[upper] : limits[lower] < limits[upper];
    if (fits) return;
    const relation = mayEqual ? "at most" : "below";
    faults.push(
      `${limitEnvName(lower)} (${limits[lower]}) must be ${relation} ${limitEnvName(upper)} (${limits[upper]})`,
    );
  };
  const { spendCapMicros, priceMicrosPerCall } = money;
  if (billing === "prepaid" && spendCapMicros > 0 && spendCapMicros < priceMicrosPerCall) {
    faults.push(
      `RELAY_SPEND_CAP_MICROS (${spendCapMicros}) must be 0 or at least RELAY_PRICE_MICROS_PER_CALL (${priceMicrosPerCall}), the price of one call`,
    );
  }
  mustBeBelow("pingIntervalSeconds", "silenceSeconds", false);
  mustBeBelow("argumentsBytes", "bodyBytes", true);
  mustBeBelow("resultBytes", "frameBytes", true);
  mustBeBelow("manifestBytes", "frameBytes", true);
  return faults;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

function camelCase(upperSnake: string): string {
  return upperSnake
    .toLowerCase()
    .replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
