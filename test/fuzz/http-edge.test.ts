/** Throws damaged requests at a Relay that listens: each gets a documented answer, or its connection ends. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { REST_ERRORS, RPC_ERRORS } from "@relay/protocol";
import { connectApp, ECHO, openRelay } from "../e2e/harness.ts";
import { httpInput } from "./http-input.ts";
import type { Target } from "./http-input.ts";
import { exchange } from "./raw-exchange.ts";
import type { RawAnswer } from "./raw-exchange.ts";
import { fuzz, isReplay, roundsOf } from "./rounds.ts";

const ROUNDS = roundsOf(1_500);
const AT_ONCE = 32;

/** Every status that the product's documents name, without those that are Relay's own faults. */
const STATUSES: ReadonlySet<number> = new Set([
  100, 101, 200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 408, 413, 415, 421, 426, 429, 431,
]);
const RPC_CODES: readonly number[] = Object.values(RPC_ERRORS).map(({ code }) => code);

test("whatever comes over HTTP is answered as documented, and the Relay goes on", async () => {
  await using relay = await openRelay({
    RELAY_UNKNOWN_TOKENS_PER_MINUTE: "1000000",
    RELAY_META_REQUESTS_PER_MINUTE: "1000000",
    RELAY_LINKS_PER_IP_PER_MINUTE: "1000000",
    RELAY_LOG_LEVEL: "info",
  });
  const project = await relay.project({ callsPerMinute: 6_000 });
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  const target: Target = {
    host: `127.0.0.1:${relay.port}`,
    mcpPath: new URL(link.mcpUrl).pathname,
    publishableKey: project.publishableKey,
    secretKey: project.secretKey,
    linkId: link.linkId,
  };
  const seen = new Map<number, number>();
  await fuzz(
    ROUNDS,
    async (random, note) => {
      const input = httpInput(target, random);
      note(input.text);
      await check(relay.port, input, seen);
    },
    AT_ONCE,
  );
  const healthy = await relay.rest("GET", "/healthz", null);
  assert.equal(healthy.status, 200);
  assert.equal((await relay.rest("GET", "/v1/links", project.secretKey)).status, 200);
  await app.close();
  const faults = relay.log.filter((line) => /"level":"(?:warn|error|fatal)"/.test(line));
  assert.deepEqual(faults, []);
  const often = [200, 204, 400, 401, 404, 405, 415, 421].filter(
    (status) => (seen.get(status) ?? 0) < 5,
  );
  if (!isReplay()) assert.deepEqual(often, []);
});

async function check(
  port: number,
  input: { readonly text: string; readonly isValid: boolean; readonly isHead: boolean },
  seen: Map<number, number>,
): Promise<void> {
  const { answers, gaveUp } = await exchange(port, input.text, {
    isPatient: input.isValid,
    isHead: input.isHead,
  });
  if (input.isValid) assert.equal(answers.length, 1, `no answer to ${input.text}`);
  for (const answer of answers) {
    seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
    try {
      checkAnswer(answer, input.isHead, gaveUp);
    } catch (error) {
      const came = JSON.stringify({ ...answer, headers: [...answer.headers] });
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`the answer was ${came}: ${why}`, { cause: error });
    }
  }
}

function checkAnswer(answer: RawAnswer, isHead: boolean, gaveUp: boolean): void {
  const { status, headers, body, isWhole } = answer;
  assert.ok(STATUSES.has(status), `${status} is not documented`);
  assert.ok(isWhole || gaveUp, "the answer was cut off");
  if (status === 100) return;
  assert.match(headers.get("x-request-id") ?? "", /^req_[0-9a-f]{32}$/);
  if (!isWhole || isHead || status === 101) return;
  const type = headers.get("content-type");
  if (type === undefined) assert.equal(body, "");
  if (type?.startsWith("application/json") !== true) return;
  const json = JSON.parse(Buffer.from(body, "latin1").toString("utf8")) as {
    jsonrpc?: string;
    error?: { code: unknown; message: unknown; requestId?: string };
  };
  if (status < 400) return;
  const { error } = json;
  assert.ok(error !== undefined && typeof error.message === "string", body);
  if (json.jsonrpc === undefined) {
    assert.ok(Object.hasOwn(REST_ERRORS, String(error.code)), body);
    assert.equal(error.requestId, headers.get("x-request-id"));
  } else {
    assert.ok(RPC_CODES.includes(Number(error.code)), body);
  }
}
