/** Accounts, credits and usage of a Relay under test. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { JsonObject, TestProject, TestRelay } from "./harness.ts";

export class Money {
  readonly relay: TestRelay;

  constructor(relay: TestRelay) {
    this.relay = relay;
  }

  /** Makes an account and returns its id. */
  async account(): Promise<string> {
    return String((await this.operator("POST", "/v1/operator/accounts")).body["accountId"]);
  }

  /** A project in an account of its own. */
  async project(settings: JsonObject = {}): Promise<{ project: TestProject; accountId: string }> {
    const accountId = await this.account();
    return { project: await this.projectOf(accountId, settings), accountId };
  }

  projectOf(accountId: string, settings: JsonObject = {}): Promise<TestProject> {
    return this.relay.project({ accountId, callsPerMinute: 6_000, ...settings });
  }

  /** Credits an account under a source key of its own; returns the answer's body. */
  async credit(accountId: string, amountMicros: number, sourceKey: string = randomUUID()) {
    const path = `/v1/operator/accounts/${accountId}/credits`;
    const answer = await this.operator("POST", path, { amountMicros, sourceKey, note: "a test" });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  }

  async usage(project: TestProject, query = ""): Promise<JsonObject> {
    const answer = await this.relay.rest("GET", `/v1/usage${query}`, project.secretKey);
    assert.equal(answer.status, 200);
    return answer.body;
  }

  /** The whole of an account's ledger, the newest first. */
  async ledger(accountId: string): Promise<JsonObject[]> {
    const path = `/v1/operator/accounts/${accountId}/ledger?limit=200`;
    return (await this.operator("GET", path)).body["items"] as JsonObject[];
  }

  operator(method: string, path: string, body?: unknown) {
    return this.relay.rest(method, path, this.relay.operatorToken, body);
  }
}
