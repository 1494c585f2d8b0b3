/** The commands as an operator types them (SPEC 12 and 13). */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { SETTINGS } from "../../packages/server/src/config.ts";
import { dataFolder, freePort, removeFolder, runRelay, serveRelay } from "./config-process.ts";
import type { RelayProcess } from "./config-process.ts";
import { openRelay } from "./harness.ts";

const PK = /\bpk_[0-9A-Za-z]{32}\b/;
const SK = /\bsk_[0-9A-Za-z]{32}\b/;
const PROJECTS = "/v1/operator/projects";
const SECRETS = /\b(lt|sk|op)_[0-9A-Za-z]{6,}/;

/** A folder of its own for a test, and the settings that use it on a port that is free. */
async function ownFolder(): Promise<Disposable & { dataDir: string; env: Record<string, string> }> {
  const dataDir = dataFolder();
  const env = { RELAY_DATA_DIR: dataDir, RELAY_PORT: String(await freePort()) };
  return { dataDir, env, [Symbol.dispose]: () => removeFolder(dataDir) };
}

describe("commands", { concurrency: 2 }, () => {
  test("relay config lists every setting with its flag, its default and what it is for", async () => {
    const { code, stdout, stderr } = await runRelay(["config"]);
    assert.deepEqual([code, stderr], [0, ""]);
    for (const setting of SETTINGS) {
      assert.ok(stdout.includes(`${setting.env}  ${setting.flag}`), setting.env);
      assert.ok(stdout.includes(setting.doc), setting.env);
    }
    assert.match(stdout, /RELAY_CALL_TIMEOUT_SECONDS .*\n +default 180\n/);
    assert.match(stdout, /RELAY_OPERATOR_TOKEN .*\n +default not set\n/);
  });

  test("relay help lists the commands, and what is no command points to it", async () => {
    const { code, stdout } = await runRelay(["help"]);
    assert.equal(code, 0);
    for (const command of ["serve", "demo", "project create NAME", "config"]) {
      assert.ok(stdout.includes(`relay ${command}`), command);
    }
    const unknown = await runRelay(["project", "create"]);
    assert.deepEqual([unknown.code, unknown.stdout], [2, ""]);
    assert.ok(unknown.stderr.includes("unknown command: relay project create\n"));
    assert.ok(unknown.stderr.includes("`relay help`"));
  });

  test("settings that can't be right stop the start, each is named, and nothing is left behind", async () => {
    using own = await ownFolder();
    const dataDir = join(own.dataDir, "never made");
    const { code, stdout, stderr } = await runRelay(["serve", "--calls-in-flight", "none"], {
      RELAY_DATA_DIR: dataDir,
      RELAY_PROT: "8787",
      RELAY_BILLING: "free",
      RELAY_OPERATOR_TOKEN: "op_hunter2",
    });
    assert.deepEqual([code, stdout], [2, ""]);
    assert.deepEqual(stderr.trimEnd().split("\n"), [
      "relay: RELAY_PROT is not a setting of Relay; `relay config` lists them",
      "relay: RELAY_OPERATOR_TOKEN must be op_ followed by 32 letters and digits",
      'relay: RELAY_BILLING must be one of off, quota, prepaid, not "free"',
      'relay: RELAY_CALLS_IN_FLIGHT must be a whole number of at least 1 and at most 2147483647, not "none"',
    ]);
    const contradiction = await runRelay(["serve"], {
      RELAY_DATA_DIR: dataDir,
      RELAY_SILENCE_SECONDS: "10",
    });
    assert.deepEqual(contradiction, {
      code: 2,
      stdout: "",
      stderr: "relay: RELAY_PING_INTERVAL_SECONDS (30) must be below RELAY_SILENCE_SECONDS (10)\n",
    });
    assert.equal(existsSync(dataDir), false);
  });

  test("a port in use is said to be", async () => {
    using own = await ownFolder();
    const port = Number(own.env["RELAY_PORT"]);
    const taken = createServer().listen(port, "127.0.0.1");
    const { code, stdout, stderr } = await runRelay(["serve"], own.env);
    await new Promise((resolve) => taken.close(resolve));
    assert.deepEqual([code, stdout], [1, ""]);
    const said = `relay: 127.0.0.1:${port} is in use; set RELAY_PORT to another port\n`;
    assert.ok(stderr.endsWith(said), stderr);
  });

  test("a data folder has one server: a second one says so, and the first goes on", async () => {
    await using first = await openRelay();
    const { code, stdout, stderr } = await runRelay(["serve"], {
      RELAY_DATA_DIR: first.dataDir,
      RELAY_PORT: "0",
    });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^relay: Another Relay server uses the data folder .*RELAY_DATA_DIR/m);
    assert.equal((await first.rest("GET", "/readyz", null)).status, 200);
  });

  test("a data folder that can't be made is said to be, in a sentence", async () => {
    using own = await ownFolder();
    const file = join(own.dataDir, "file");
    writeFileSync(file, "");
    const dataDir = join(file, "data");
    const { code, stderr } = await runRelay(["serve"], { ...own.env, RELAY_DATA_DIR: dataDir });
    assert.equal(code, 1);
    assert.match(stderr, /^relay: .*data/m);
    assert.doesNotMatch(stderr, /\n +at /, "and not by a stack");
  });

  test("serve says where it is on stdout, logs to stderr, keeps its files to itself, and Ctrl-C ends it with 0", async () => {
    using own = await ownFolder();
    const dataDir = join(own.dataDir, "made", "here");
    await using relay = await serveRelay({ ...own.env, RELAY_DATA_DIR: dataDir });
    assert.equal(relay.url, `http://localhost:${own.env["RELAY_PORT"]}`);
    assert.equal((await relay.rest("GET", "/healthz")).status, 200);
    const { code, stdout, stderr } = await relay.stop();
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^Relay \S+ is running at \S+\n\nMake the first user [^\n]+:\n\n {2}http:\/\/localhost:\d+\/setup#token=su_[0-9a-f]{48}\n$/,
    );
    const lines = stderr.trimEnd().split("\n");
    assert.ok(lines.length >= 2);
    for (const line of lines) assert.equal(JSON.parse(line).level, "info", line);
    assert.equal(statSync(dataDir).mode & 0o777, 0o700);
    const files = ["operator-token", "seal.key", "auth.key", "setup.json", "relay.db", "lock.db"];
    for (const file of files) {
      assert.equal(statSync(join(dataDir, file)).mode & 0o777, 0o600, file);
    }
  });

  test("project create prints keys that work, without a server running and with one", async () => {
    using own = await ownFolder();
    const without = await runRelay(["project", "create", "First of all"], own.env);
    assert.deepEqual([without.code, without.stderr], [0, ""]);
    assert.match(without.stdout, /^Project First of all \([0-9a-f-]{36}\)\n/);
    const relay = await openRelay({}, own.dataDir);
    const env = { ...own.env, RELAY_PORT: String(relay.port) };
    const withOne = await runRelay(["project", "create", "Second"], env);
    assert.deepEqual([withOne.code, withOne.stderr], [0, ""]);
    for (const { stdout } of [without, withOne]) {
      const [pk = ""] = PK.exec(stdout) ?? [];
      const [sk = ""] = SK.exec(stdout) ?? [];
      assert.equal((await relay.rest("POST", "/v1/links", pk)).status, 201);
      assert.equal((await relay.rest("GET", "/v1/project", sk)).status, 200);
    }
    const locked = await runRelay(["project", "create", "Third"], own.env);
    assert.deepEqual([locked.code, locked.stdout], [1, ""]);
    assert.match(locked.stderr, /^relay: Another Relay server uses the data folder /);
    await relay.stop();
  });

  test("relay demo shows every frame of a call and no secret; a link that is of no use is made anew", async () => {
    using own = await ownFolder();
    const alone = await runRelay(["demo"], own.env);
    assert.deepEqual([alone.code, alone.stdout], [1, ""]);
    assert.match(alone.stderr, /^relay: no Relay answers at \S+; `relay serve` starts one\n$/);
    const file = join(own.dataDir, "demo.json");
    writeFileSync(file, '{"linkToken":"lt_0"}', { mode: 0o600 });
    const relay = await openRelay({}, own.dataDir);
    const env = { ...own.env, RELAY_PORT: String(relay.port) };
    const linkAfterDemo = async (): Promise<string> => {
      const { code, stdout, stderr } = await runRelay(["demo"], env);
      assert.equal(code, 0, stdout + stderr);
      assertCallShown(stdout);
      return /"type":"ready","linkId":"([^"]+)"/.exec(stdout)?.[1] ?? "";
    };
    const first = await linkAfterDemo();
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const { projectId } = (await relay.rest("GET", PROJECTS, relay.operatorToken)).body["items"][0];
    const keys = `${PROJECTS}/${projectId}/keys`;
    const { key } = (await relay.rest("POST", keys, relay.operatorToken, { kind: "sk" })).body;
    await relay.rest("POST", `/v1/links/${first}/revoke`, key);
    assert.notEqual(await linkAfterDemo(), first);
    await relay.stop();
  });

  test("serve --demo prints a curl line that works as pasted, also after a rotation and on another port", async () => {
    using own = await ownFolder();
    const served = (port: string): Promise<RelayProcess> =>
      serveRelay({ ...own.env, RELAY_PORT: port }, ["--demo"]);
    const lineOf = (relay: RelayProcess): Promise<string> => relay.says(/^curl .*$/m);
    await using first = await served(own.env["RELAY_PORT"] ?? "");
    const firstLine = await lineOf(first);
    assert.match(pasted(firstLine), /^data: .*notes match/m);
    const publishableKey = await first.says(PK);
    const projects = await first.rest("GET", PROJECTS);
    const keys = `${PROJECTS}/${projects.body["items"][0].projectId}/keys`;
    const { key } = (await first.rest("POST", keys, { kind: "sk" })).body;
    const links = await first.rest("GET", "/v1/links", undefined, key);
    const path = `/v1/links/${links.body["items"][0].linkId}/rotate`;
    assert.equal((await first.rest("POST", path, undefined, key)).status, 200);
    assert.equal((await first.stop()).code, 0);
    await using second = await served(String(await freePort()));
    const secondLine = await lineOf(second);
    assert.notEqual(secondLine, firstLine);
    assert.match(pasted(secondLine), /^data: .*notes match/m);
    assert.equal(await second.says(PK), publishableKey, "the link is the same");
    assert.equal((await second.stop()).code, 0);
  });
});

/** Every frame on the way of one call, in its order, and none of the link's tokens. */
function assertCallShown(stdout: string): void {
  const steps = [
    '"type":"hello"',
    '"type":"ready"',
    '"tools/call"',
    '"type":"call"',
    "notes match",
    "data:",
  ];
  let at = 0;
  for (const step of steps) {
    at = stdout.indexOf(step, at);
    assert.notEqual(at, -1, `${step} in ${stdout}`);
  }
  assert.match(stdout, /^relay →  host .*notes match/m);
  assert.doesNotMatch(stdout, SECRETS);
}

/** What a shell makes of a printed line. */
function pasted(line: string): string {
  const { stdout, error } = spawnSync("sh", ["-c", line], { encoding: "utf8", timeout: 10_000 });
  assert.equal(error, undefined);
  return stdout;
}
