import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LIMITS, limitEnvName } from "@relay/protocol";
import type { LimitName } from "@relay/protocol";
import { SETTINGS, readConfig } from "./config.ts";
import type { Config } from "./config.ts";

type Variables = Readonly<Record<string, string>>;

function config(env: Variables = {}, flags: Variables = {}): Config {
  const reading = readConfig(env, new Map(Object.entries(flags)));
  assert.ok(reading.ok, reading.ok ? "" : reading.faults.join("; "));
  return reading.config;
}

function faultsOf(env: Variables, flags: Variables = {}): readonly string[] {
  const reading = readConfig(env, new Map(Object.entries(flags)));
  return reading.ok ? [] : reading.faults;
}

test("without any setting a Relay is SPEC 12's", () => {
  const { limits, ...rest } = config();
  const expected = {
    host: "127.0.0.1",
    port: 8787,
    publicUrl: "http://localhost:8787",
    mcpPublicUrl: "http://localhost:8787",
    trustProxy: 0,
    dataDir: "./data",
    operatorToken: null,
    sealKey: null,
    billing: "off",
    money: {
      freeCallsPerMonth: 1_000,
      priceMicrosPerCall: 1_000,
      spendCapMicros: 10_000_000,
      lowBalanceMicros: 1_000_000,
      webhookPrivateAddresses: false,
      webhookTimeoutMs: 10_000,
      webhookRetryMs: 5_000,
    },
    logLevel: "info",
    durability: "normal",
    drainMs: 20_000,
  };
  assert.deepEqual({ ...rest, ...expected }, rest);
  for (const name of Object.keys(LIMITS) as LimitName[]) {
    assert.equal(limits[name], LIMITS[name].value, name);
  }
});

describe("what is set", () => {
  test("comes from variables or flags, and a flag wins", () => {
    const env = { RELAY_PORT: "9000", RELAY_LOG_LEVEL: "warn", HOME: "/root", PORT: "1" };
    assert.equal(config(env).port, 9000);
    assert.equal(config(env, { "--port": "9001" }).port, 9001);
    assert.equal(config(env, { "--port": "9001" }).logLevel, "warn");
    assert.equal(config({}, { "--calls-in-flight": "3" }).limits.callsInFlight, 3);
  });

  test("is as good as not set when it is empty", () => {
    assert.equal(config({ RELAY_PORT: "", RELAY_OPERATOR_TOKEN: "" }).port, 8787);
  });

  test("every settable limit goes by its name in upper snake case", () => {
    for (const name of Object.keys(LIMITS) as LimitName[]) {
      const env = limitEnvName(name);
      assert.equal(
        SETTINGS.some((setting) => setting.env === env),
        LIMITS[name].settable,
        env,
      );
    }
    assert.equal(config({ RELAY_CALLS_PER_MINUTE: "6000" }).limits.callsPerMinute, 6000);
    assert.equal(config({ RELAY_CALL_TIMEOUT_SECONDS: "0.5" }).limits.callTimeoutSeconds, 0.5);
  });

  test("each setting has its own names and says what it is for", () => {
    for (const key of ["env", "flag", "key"] as const) {
      assert.equal(new Set(SETTINGS.map((setting) => setting[key])).size, SETTINGS.length);
    }
    for (const { env, flag, doc } of SETTINGS) {
      assert.match(env, /^RELAY_[A-Z0-9_]+$/);
      assert.equal(flag, `--${env.slice("RELAY_".length).toLowerCase().replaceAll("_", "-")}`);
      assert.match(doc, /^[A-Z0-9`].*\.$/s, env);
    }
  });
});

describe("public URLs", () => {
  test("follow the port unless they are set", () => {
    assert.equal(config({ RELAY_PORT: "9000" }).publicUrl, "http://localhost:9000");
    const set = config({ RELAY_PORT: "9000", RELAY_PUBLIC_URL: "https://api.example.com/relay//" });
    assert.equal(set.publicUrl, "https://api.example.com/relay", "without the slashes at its end");
  });

  test("the MCP base is the public URL unless it is set", () => {
    const base = { RELAY_PUBLIC_URL: "https://api.example.com/relay" };
    assert.equal(config(base).mcpPublicUrl, "https://api.example.com/relay");
    const split = config({ ...base, RELAY_MCP_PUBLIC_URL: "https://mcp.example.com/" });
    assert.equal(split.mcpPublicUrl, "https://mcp.example.com");
    assert.equal(split.publicUrl, "https://api.example.com/relay");
  });
});

describe("what can't be right", () => {
  test("an unknown variable or flag is named, and so is where to look", () => {
    assert.deepEqual(faultsOf({ RELAY_PROT: "1", RELAYED: "1" }, { "--prot": "1" }), [
      "RELAY_PROT is not a setting of Relay; `relay config` lists them",
      "--prot is not a setting of Relay; `relay config` lists them",
    ]);
  });

  const port = "RELAY_PORT must be a whole number of at least 0 and at most 65535, not";
  const url = "RELAY_PUBLIC_URL must be an http or https URL without query, fragment or user, not";
  const wrong: readonly (readonly [string, string, string])[] = [
    ["RELAY_PORT", "x", `${port} "x"`],
    ["RELAY_PORT", "-1", `${port} "-1"`],
    ["RELAY_PORT", "65536", `${port} "65536"`],
    ["RELAY_PORT", "80.5", `${port} "80.5"`],
    ["RELAY_PORT", "0x50", `${port} "0x50"`],
    ["RELAY_PORT", " 80", `${port} " 80"`],
    ["RELAY_PUBLIC_URL", "example.com", `${url} "example.com"`],
    ["RELAY_PUBLIC_URL", "ftp://example.com", `${url} "ftp://example.com"`],
    ["RELAY_PUBLIC_URL", "https://a.example/?x", `${url} "https://a.example/?x"`],
    ["RELAY_PUBLIC_URL", "https://a:b@a.example", `${url} "https://a:b@a.example"`],
    ["RELAY_DURABILITY", "half", 'RELAY_DURABILITY must be one of normal, full, not "half"'],
    [
      "RELAY_OPERATOR_TOKEN",
      "secret",
      "RELAY_OPERATOR_TOKEN must be op_ followed by 32 letters and digits",
    ],
    ["RELAY_SEAL_KEY", "abc", "RELAY_SEAL_KEY must be 64 hexadecimal digits"],
    ["RELAY_DRAIN_SECONDS", "-1", 'RELAY_DRAIN_SECONDS must be a number of at least 0, not "-1"'],
  ];

  for (const [name, value, fault] of wrong) {
    test(`${name}=${value} is said to be wrong, and how`, () => {
      assert.deepEqual(faultsOf({ [name]: value }), [fault]);
    });
  }

  test("a secret is never repeated", () => {
    for (const name of ["RELAY_OPERATOR_TOKEN", "RELAY_SEAL_KEY"]) {
      assert.ok(
        !faultsOf({ [name]: "hunter2" })
          .join()
          .includes("hunter2"),
      );
    }
  });

  test("a limit is within its bounds: none is 0, and none past what timers and frames can count", () => {
    for (const name of Object.keys(LIMITS) as LimitName[]) {
      if (!LIMITS[name].settable) continue;
      for (const value of ["0", "-1", "1e3", "NaN", "9999999999", "x"]) {
        const faults = faultsOf({ [limitEnvName(name)]: value });
        assert.equal(faults.length, 1, `${name}=${value}`);
        assert.match(
          faults[0] ?? "",
          /must be a (whole )?number of at least [\d.]+ and at most \d+/,
        );
      }
    }
    assert.equal(faultsOf({ RELAY_CALLS_IN_FLIGHT: "1.5" }).length, 1, "half a call");
    assert.equal(faultsOf({ RELAY_CALLS_PER_MINUTE: "6001" }).length, 1);
  });

  test("a spend cap that not one call fits under is a contradiction, in the mode that has one", () => {
    const env = { RELAY_SPEND_CAP_MICROS: "999", RELAY_PRICE_MICROS_PER_CALL: "1000" };
    assert.deepEqual(faultsOf({ ...env, RELAY_BILLING: "prepaid" }), [
      "RELAY_SPEND_CAP_MICROS (999) must be 0 or at least RELAY_PRICE_MICROS_PER_CALL (1000), the price of one call",
    ]);
    assert.deepEqual(faultsOf({ ...env, RELAY_BILLING: "quota" }), []);
    const none = { ...env, RELAY_SPEND_CAP_MICROS: "0", RELAY_BILLING: "prepaid" };
    assert.deepEqual(faultsOf(none), []);
  });

  test("values that contradict each other are named together", () => {
    const pairs: readonly (readonly [Variables, string])[] = [
      [
        { RELAY_PING_INTERVAL_SECONDS: "90" },
        "RELAY_PING_INTERVAL_SECONDS (90) must be below RELAY_SILENCE_SECONDS (90)",
      ],
      [
        { RELAY_ARGUMENTS_BYTES: "81921" },
        "RELAY_ARGUMENTS_BYTES (81921) must be at most RELAY_BODY_BYTES (81920)",
      ],
      [
        { RELAY_RESULT_BYTES: "262145" },
        "RELAY_RESULT_BYTES (262145) must be at most RELAY_FRAME_BYTES (262144)",
      ],
      [
        { RELAY_MANIFEST_BYTES: "262145" },
        "RELAY_MANIFEST_BYTES (262145) must be at most RELAY_FRAME_BYTES (262144)",
      ],
    ];
    for (const [env, fault] of pairs) assert.deepEqual(faultsOf(env), [fault]);
    const both = pairs.slice(1, 3).map(([env]) => env);
    assert.equal(faultsOf(Object.assign({}, ...both)).length, 2, "all at once");
    assert.equal(config({ RELAY_ARGUMENTS_BYTES: "81920" }).limits.argumentsBytes, 81_920);
  });

  test("everything that is wrong is said at once", () => {
    assert.equal(faultsOf({ RELAY_PORT: "x", RELAY_TOOLS: "x", RELAY_NOPE: "1" }).length, 3);
  });
});
