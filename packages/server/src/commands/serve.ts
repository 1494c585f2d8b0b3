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
import type { SqliteStore } from "../store/sqlite.ts";
import { StoreError } from "../store/store.ts";
import { openObservers } from "./observers.ts";
import type { Observers } from "./observers.ts";
import { operatorToken, sealKey } from "./secrets.ts";
import { untilStopped } from "./signals.ts";
import { VERSION } from "./version.ts";

/** On one machine there is one node; the data folder's lock sees to that. */
const NODE_NAME = "local";

/** What closes is given this long after the drain, then it is cut. */
const CLOSE_MS = 1_500;
/** Answers that are on their way when the drain is over get this long to leave. */
const LAST_ANSWERS_MS = 500;
/** A process that has closed everything and still does not end is ended after this. */
const LINGER_MS = 200;

/** A Relay that listens. */
export type RunningRelay = {
  readonly node: RelayNode;
  readonly port: number;
  readonly urls: PublicUrls;
  /** Drains for at most the configured time, then closes everything. */
  stop(): Promise<void>;
};

/** What has to be closed again if the start fails. */
type OpenParts = {
  readonly store: SqliteStore;
  readonly edge: HttpEdge;
  readonly observers: Observers;
};

/** Builds a Relay from its parts and makes it listen. One that fails to start leaves nothing open. */
export async function startRelay(config: Config, log: Log): Promise<RunningRelay> {
  const { dataDir, durability, trustProxy } = config;
  const store = await openSqliteStore({ dataDir, durability });
  const observers = await openObservers(config, log);
  const prefixes = prefixesOf(config);
  const hostNames = hostNamesOf(config);
  const { meter, tracer } = observers;
  const about = { trustProxy, prefixes, hostNames, meter, tracer };
  const edge = new HttpEdge({ clock: systemClock, log, ...about });
  try {
    return await joinParts(config, log, { store, edge, observers });
  } catch (error) {
    await edge.close(0);
    await observers.close(systemClock);
    await store.close();
    throw error;
  }
}

/** The one place where all parts meet. */
async function joinParts(
  config: Config,
  log: Log,
  { store, edge, observers }: OpenParts,
): Promise<RunningRelay> {
  const clock = systemClock;
  const { limits } = config;
  const { meter } = observers;
  const token = operatorToken(config);
  const seal = new Seal(sealKey(config));
  const port = await edge.listen(config.host, config.port);
  const urls = publicUrls(config, port);
  const bus = new InProcessHub().bus(NODE_NAME);
  const shared = { store, bus, clock, limits, log, urls };
  const node = new RelayNode({ ...shared, quota: unlimitedQuota, seal, meter });
  await node.start();
  const sockets = new AppSockets({ node, clock, limits, log, meter });
  const allowsLocalOrigins = urls.public.startsWith("http:");
  edge.open({
    mcp: new McpEndpoint({ node, clock, limits, log, allowsLocalOrigins }),
    sockets,
    api: createApi({
      ...shared,
      node,
      operatorTokenHash: hashToken(token),
      scrape: observers.scraperOf({ node, sockets, store }),
    }),
  });
  log.info({ version: VERSION, host: config.host, port }, "relay is listening");
  const stop = async (): Promise<void> => {
    log.info({ sockets: sockets.count, calls: node.inFlight }, "relay is draining");
    await node.drain(config.drainMs);
    await Promise.all([sockets.close(CLOSE_MS), edge.close(LAST_ANSWERS_MS)]);
    await node.close();
    await store.close();
    await observers.close(clock);
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
  const stopDemo = withDemo ? await startDemo(config, relay.port) : null;
  await signals;
  stopDemo?.();
  await relay.stop();
  // Traces that a collector does not take would keep the process for as long as they are tried.
  setTimeout(() => process.exit(0), LINGER_MS).unref();
  return 0;
}

/** Starts the sample app; without it the Relay runs on, and its user is told why. */
async function startDemo(config: Config, port: number): Promise<(() => void) | null> {
  try {
    // Loaded only where it runs: a server has no use for the app's side of Relay.
    const demo = await (await import("./demo.ts")).startDemo(config, port);
    return () => demo.stop();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(
      `relay: the sample app did not start: ${why}\n       without ${config.dataDir}/demo.json it makes itself a new link\n`,
    );
    return null;
  }
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
  const prefixes = [...new Set([...paths, "/relay"])].filter((path) => path !== "");
  // One may begin with another.
  return prefixes.toSorted((a, b) => b.length - a.length);
}

/** While bound to loopback: loopback's own names and those of the public URLs. */
function hostNamesOf(config: Config): ReadonlySet<string> | null {
  const isLoopback = /^(127\.\d+\.\d+\.\d+|localhost|::1)$/.test(config.host);
  if (!isLoopback) return null;
  const own = [config.publicUrl, config.mcpPublicUrl].map((url) => new URL(url).hostname);
  return new Set(["localhost", "127.0.0.1", "[::1]", config.host, ...own]);
}
