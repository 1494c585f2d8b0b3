import { createApi } from "../api/api.ts";
import { AppSockets } from "../app/sockets.ts";
import { systemClock } from "../clock.ts";
import { InProcessHub } from "../cluster/in-process.ts";
import type { Config } from "../config.ts";
import { McpEndpoint } from "../host/mcp.ts";
import { HttpEdge } from "../http.ts";
import { hashToken } from "../ids.ts";
import { openLog } from "../observe/log.ts";
import type { Log } from "../observe/log.ts";
import { RelayNode } from "../relay/node.ts";
import { unlimitedQuota } from "../relay/quota.ts";
import { publicUrls } from "../public-urls.ts";
import type { PublicUrls } from "../public-urls.ts";
import { Seal } from "../relay/seal.ts";
import { openSqliteStore } from "../store/sqlite.ts";
import { StoreError } from "../store/store.ts";
import { startDemo } from "./demo.ts";
import { operatorToken, sealKey } from "./secrets.ts";
import { untilStopped } from "./signals.ts";
import { VERSION } from "./version.ts";

/** On one machine there is one node; the data folder's lock sees to that. */
const NODE_NAME = "local";

/** What closes is given this long after the drain, then it is cut. */
const CLOSE_MS = 1_500;

/** A Relay that listens. */
export type RunningRelay = {
  readonly node: RelayNode;
  readonly port: number;
  readonly urls: PublicUrls;
  /** Drains for at most the configured time, then closes everything. */
  stop(): Promise<void>;
};

/** Builds a Relay from its parts and makes it listen: the one place where all of them meet. */
export async function startRelay(config: Config, log: Log): Promise<RunningRelay> {
  const clock = systemClock;
  const { limits, dataDir, durability, trustProxy } = config;
  const token = operatorToken(config);
  const seal = new Seal(sealKey(config));
  const store = await openSqliteStore({ dataDir, durability });
  const edge = new HttpEdge({
    clock,
    log,
    trustProxy,
    prefixes: prefixesOf(config),
    hostNames: hostNamesOf(config),
  });
  const port = await edge.listen(config.host, config.port).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const urls = publicUrls(config, port);
  const bus = new InProcessHub().bus(NODE_NAME);
  const shared = { store, bus, clock, limits, log, urls };
  const node = new RelayNode({ ...shared, quota: unlimitedQuota, seal });
  await node.start();
  const sockets = new AppSockets({ node, clock, limits, log });
  const allowsLocalOrigins = urls.public.startsWith("http:");
  edge.open({
    mcp: new McpEndpoint({ node, clock, limits, log, allowsLocalOrigins }),
    sockets,
    api: createApi({ ...shared, node, operatorTokenHash: hashToken(token) }),
  });
  log.info({ version: VERSION, host: config.host, port }, "relay is listening");
  const stop = async (): Promise<void> => {
    log.info({ sockets: sockets.count, calls: node.inFlight }, "relay is draining");
    await node.drain(config.drainMs);
    await sockets.close(CLOSE_MS);
    await edge.close(CLOSE_MS);
    await node.close();
    await store.close();
    log.info({}, "relay has stopped");
  };
  return { node, port, urls, stop };
}

/** `relay serve`: runs until told to stop. Returns the exit code. */
export async function serve(config: Config, withDemo: boolean): Promise<number> {
  const log = openLog(config.logLevel);
  const signals = untilStopped();
  let relay: RunningRelay;
  try {
    relay = await startRelay(config, log);
  } catch (error) {
    process.stderr.write(`relay: ${startFailure(error, config)}\n`);
    return 1;
  }
  process.stdout.write(`Relay ${VERSION} is running at ${relay.urls.public}\n`);
  const demo = withDemo ? await startDemo(config, relay.port) : null;
  await signals;
  demo?.close();
  await relay.stop();
  return 0;
}

function startFailure(error: unknown, config: Config): string {
  if (error instanceof StoreError) return error.message;
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
    return `${config.host}:${config.port} is in use; set RELAY_PORT to another port`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** The path prefixes of the public URLs, and `/relay`, as the product spec's addresses have it. */
function prefixesOf(config: Config): string[] {
  const paths = [config.publicUrl, config.mcpPublicUrl].map((url) =>
    new URL(url).pathname.replace(/\/$/, ""),
  );
  return [...new Set([...paths, "/relay"])].filter((path) => path !== "");
}

/** While bound to loopback: loopback's own names and those of the public URLs. */
function hostNamesOf(config: Config): ReadonlySet<string> | null {
  const isLoopback = /^(127\.\d+\.\d+\.\d+|localhost|::1)$/.test(config.host);
  if (!isLoopback) return null;
  const own = [config.publicUrl, config.mcpPublicUrl].map((url) => new URL(url).hostname);
  return new Set(["localhost", "127.0.0.1", "[::1]", config.host, ...own]);
}
