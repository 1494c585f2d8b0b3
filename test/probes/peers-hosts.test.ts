/** Hosts that misbehave: they stop reading, leave at any moment, or never stop asking. */
import assert from "node:assert/strict";
import { after, afterEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ECHO, connectApp } from "../e2e/harness.ts";
import type { TestApp, TestLink } from "../e2e/harness.ts";
import { callText, rowsOf } from "../e2e/calls-rows.ts";
import { RawConnection, exchange, requestText } from "../e2e/host-raw.ts";
import { heapAndExternalMiB } from "./memory.ts";
import { Probed } from "./probed.ts";

const probed = await Probed.open({ RELAY_KEEP_ALIVE_SECONDS: "0.1" });
after(() => probed[Symbol.asyncDispose]());
afterEach(() => probed.assertUndisturbed());

const { port } = probed.relay;
const { node } = probed.relay.relay;
const JSON_TYPE = { "Content-Type": "application/json" };

function callRequest(link: TestLink, accept = "*/*"): string {
  const headers = { ...JSON_TYPE, Accept: accept };
  const { pathname } = new URL(link.mcpUrl);
  return requestText(port, "POST", pathname, headers, callText('{"query":"x"}'));
}

async function until(holds: () => boolean, what: string): Promise<void> {
  for (let waits = 0; !holds(); waits += 1) {
    assert.ok(waits < 1_000, what);
    await sleep(10);
  }
}

const leave = {
  FIN: (host: RawConnection) => host.finish(),
  RST: (host: RawConnection) => host.reset(),
} as const;

function framesOf(app: TestApp, type: string): number {
  return app.frames.filter((frame) => frame["type"] === type).length;
}

describe("what takes its time", { concurrency: true }, () => {
  test("a host that reads nothing of its stream gets keep-alives that cost nothing, and its answer at the end", async () => {
    const link = await probed.project.link();
    const app = await connectApp(link);
    const host = new RawConnection(port);
    host.socket.pause();
    host.send(callRequest(link));
    const { id } = await app.next("call");
    await sleep(300);
    app.send({ type: "result", id, content: [{ type: "text", text: "z".repeat(120_000) }] });
    await until(() => node.inFlight === 0, "the call is over though nobody reads");
    host.socket.resume();
    const text = await host.until((so) => so.includes("\r\n0\r\n\r\n"));
    assert.equal(text.split("event: message").length, 2);
    host.finish();
    await app.close();
  });

  test("a host that leaves in the middle of its request, at any byte, by FIN or RST, made no call", async () => {
    const link = await probed.project.link();
    const app = await connectApp(link, ECHO);
    const whole = callRequest(link);
    for (const [how, go] of Object.entries(leave)) {
      const hosts = [];
      for (let cut = 1; cut < whole.length; cut += 5) {
        const host = new RawConnection(port);
        host.send(whole.slice(0, cut));
        hosts.push(host);
      }
      // What is asked behind them is answered when they have been read.
      await probed.bystanderWaits();
      for (const host of hosts) go(host);
      for (const text of await Promise.all(hosts.map(({ closed }) => closed))) {
        assert.ok(text === "" || text.startsWith("HTTP/1.1 400 "), `${how}: ${text}`);
      }
    }
    assert.equal(framesOf(app, "call"), 0);
    await app.close();
  });

  test("a host that leaves at any point of the answer cancels its call if it runs, and never hurts it if it is over", async () => {
    const project = await probed.relay.project({ callsPerMinute: 6000 });
    const link = await project.link();
    const app = await connectApp(link);
    const points: Readonly<Record<string, (host: RawConnection, id: string) => Promise<unknown>>> =
      {
        "before the head": async () => undefined,
        "in the head": (host) => host.until((text) => text.length > 10),
        "behind the first comment": (host) => host.until((text) => text.includes(": open")),
        "behind a keep-alive": (host) => host.until((text) => text.includes(": keep-alive")),
      };
    for (const accept of ["*/*", "application/json"]) {
      for (const [what, reach] of Object.entries(points)) {
        if (accept !== "*/*" && what !== "before the head") continue;
        for (const go of Object.values(leave)) {
          const host = new RawConnection(port);
          host.send(callRequest(link, accept));
          const { id } = await app.next("call");
          await reach(host, id);
          go(host);
          assert.equal((await app.next("cancel"))["id"], id, `${accept}, ${what}`);
        }
      }
    }
    const cancelled = framesOf(app, "cancel");
    for (const go of Object.values(leave)) {
      const host = new RawConnection(port);
      host.send(callRequest(link));
      const { id } = await app.next("call");
      // Most of it is still on its way when the host leaves.
      app.send({ type: "result", id, content: [{ type: "text", text: "z".repeat(120_000) }] });
      await host.until((text) => text.includes("zzzz"));
      go(host);
      await host.closed;
    }
    await until(() => node.inFlight === 0, "all are over");
    assert.equal(framesOf(app, "cancel"), cancelled, "those were over");
    const rows = await rowsOf(project, cancelled + 2);
    const of = (outcome: string): number => rows.filter((row) => row["outcome"] === outcome).length;
    assert.deepEqual([of("cancelled"), of("ok"), rows.length], [cancelled, 2, cancelled + 2]);
    await app.close();
  });
});

test("10,000 requests on one connection, sent at once and read late, are answered in order within bounds", async () => {
  const link = await probed.project.link();
  const { pathname } = new URL(link.mcpUrl);
  const requests = Array.from({ length: 10_000 }, (_, n) =>
    requestText(port, "POST", pathname, JSON_TYPE, `{"jsonrpc":"2.0","id":${n},"method":"ping"}`),
  ).join("");
  const bytes = Buffer.from(requests);
  const before = heapAndExternalMiB();
  const host = new RawConnection(port);
  host.socket.pause();
  host.send(bytes);
  let grown = 0;
  for (let round = 0; round < 4; round += 1) {
    await probed.bystanderWaits();
    grown = Math.max(grown, heapAndExternalMiB() - before);
    await sleep(50);
  }
  assert.ok(grown < 24, `grew by ${grown} MiB`);
  let text = "";
  host.socket.removeAllListeners("data");
  await new Promise<void>((resolve) => {
    host.socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (chunk.includes('"id":9999,')) resolve();
    });
    host.socket.resume();
  });
  const ids = [...text.matchAll(/"id":(\d+),"result":\{\}/g)].map(([, id]) => Number(id));
  assert.deepEqual(
    ids,
    ids.map((_, at) => at),
  );
  assert.equal(ids.length, 10_000);
  host.reset();
  await host.closed;
});

test("what anybody may ask for without a token takes less than 10 ms of CPU", async () => {
  const rounds = 20;
  for (const path of ["/openapi.json", "/asyncapi.json", "/healthz", "/readyz", "/", "/nothing"]) {
    const request = requestText(port, "GET", path, { Connection: "close" });
    const ask = (): Promise<unknown> => exchange(port, request);
    await ask();
    const before = process.cpuUsage();
    for (let round = 0; round < rounds; round += 1) await ask();
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1000 / rounds;
    assert.ok(ms < 10, `${path}: ${ms} ms, ours and the asker's`);
  }
});

test("requests from 1,500 fresh connections leave nothing behind", async () => {
  const link = await probed.project.link();
  const { pathname } = new URL(link.mcpUrl);
  const methods = ["initialize", "tools/list", "ping", "server/discover", "nonsense"];
  const round = async (): Promise<void> => {
    for (let batch = 0; batch < 5; batch += 1) {
      const hosts = Array.from({ length: 100 }, (_, n) => {
        const body = `{"jsonrpc":"2.0","id":1,"method":"${methods[n % 5]}","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"probe ${n}","version":"1"}}}`;
        const host = new RawConnection(port);
        const headers = { ...JSON_TYPE, Connection: "close", "Mcp-Session-Id": `s${n}` };
        host.send(requestText(port, "POST", pathname, headers, body));
        return host.closed;
      });
      for (const text of await Promise.all(hosts)) assert.match(text, /^HTTP\/1\.1 (200|404) /);
    }
  };
  await round();
  const before = heapAndExternalMiB();
  await round();
  await round();
  const grown = heapAndExternalMiB() - before;
  assert.ok(grown < 6, `grew by ${grown} MiB`);
});
