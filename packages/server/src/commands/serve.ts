import { loadBetterAuth } from "../accounts/lazy-accounts.ts";
import type { People } from "../api/accounts-people.ts";
import { createApi } from "../api/api.ts";
import type { RestApi } from "../api/api.ts";
import { AppSockets } from "../app/sockets.ts";
import { openBilling } from "../billing/billing.ts";
import { systemClock } from "../clock.ts";
import { InProcessHub } from "../cluster/in-process.ts";
import type { Config } from "../config.ts";
import { McpEndpoint } from "../host/mcp.ts";
import { HttpEdge } from "../http.ts";
import { hashToken } from "../ids.ts";
import { openLog } from "../observe/log.ts";
import type { Log } from "../observe/log.ts";
import { RelayNode } from "../relay/node.ts";
import { publicUrls } from "../public-urls.ts";
import type { PublicUrls } from "../public-urls.ts";
import { Seal } from "../relay/seal.ts";
import { openSqliteStore } from "../store/sqlite.ts";
import type { SqliteStore } from "../store/sqlite.ts";
import { StoreError } from "../store/store.ts";
import { openPeople } from "./accounts.ts";
import { openObservers } from "./observers.ts";
import type { Observers } from "./observers.ts";
import { backupPort } from "./backup.ts";
import { operatorToken, sealKey } from "./secrets.ts";
import { untilStopped } from "./signals.ts";
import { VERSION } from "./version.ts";
import { VitalSigns } from "./vital-signs.ts";

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
  readonly api: RestApi;
  readonly people: People;
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
  const callTimeoutMs = config.limits.callTimeoutSeconds * 1000;
  const about = { trustProxy, callTimeoutMs, prefixes, hostNames, meter, tracer };
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
  const { billing: mode, money: settings } = config;
  const billing = await openBilling({ ...shared, seal, mode, settings });
  const people = await openPeople(config, shared);
  const node = new RelayNode({ ...shared, quota: billing.quota, seal, meter });
  await node.start();
  const sockets = new AppSockets({ node, clock, limits, log, meter });
  const vitalSigns = new VitalSigns({ sockets, dataDir: config.dataDir, clock });
  const allowsLocalOrigins = urls.public.startsWith("http:");
  const api = createApi({
    ...shared,
    node,
    billing,
    people,
    operatorTokenHash: hashToken(token),
    version: VERSION,
    vitals: () => vitalSigns.read(),
    backup: backupPort(config.dataDir),
    scrape: observers.scraperOf({ node, sockets, store }),
  });
  edge.open({
    mcp: new McpEndpoint({ node, clock, limits, log, allowsLocalOrigins }),
    sockets,
    api: api.answer,
  });
  billing.start();
  log.info({ version: VERSION, host: config.host, port }, "relay is listening");
  const stop = async (): Promise<void> => {
    log.info({ sockets: sockets.count, calls: node.inFlight }, "relay is draining");
    await node.drain(config.drainMs);
    await Promise.all([sockets.close(CLOSE_MS), edge.close(LAST_ANSWERS_MS)]);
    await billing.close();
    vitalSigns.close();
    await people.accounts.close();
    await node.close();
    await store.close();
    await observers.close(clock);
    log.info({}, "relay has stopped");
  };
  return { node, port, urls, api, people, stop };
}

/** `relay serve`: runs until told to stop. Returns the exit code. */
export async function serve(config: Config, withDemo: boolean): Promise<number> {
  const log = openLog(config.logLevel);
  const signals = untilStopped();
  let relay: RunningRelay;
  try {
    // Before it listens: to load this holds up everything else for a moment.
    await loadBetterAuth();
    relay = await startRelay(config, log);
  } catch (error) {
    process.stderr.write(`relay: ${startFailure(error, config)}\n`);
    return 1;
  }
  process.stdout.write(`Relay ${VERSION} is running at ${relay.urls.public}\n`);
  await showSetUpLink(relay.people);
  const stopDemo = withDemo ? await startDemo(config, relay.port) : null;
  await signals;
  stopDemo?.();
  await relay.stop();
  // Traces that a collector does not take would keep the process for as long as they are tried.
  setTimeout(() => process.exit(0), LINGER_MS).unref();
  return 0;
}

/** While there is no first user: the link that makes one. */
async function showSetUpLink({ setUp }: People): Promise<void> {
  const link = await setUp.mintLink();
  if (link === null) return;
  process.stdout.write(
    `\nMake the first user of the dashboard within 30 minutes (\`relay setup-link\` prints a new link):\n\n  ${link}\n`,
  );
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
