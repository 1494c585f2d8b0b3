import type { Limits, UrlToken } from "@relay/protocol";
import type { Bus } from "../cluster/bus.ts";
import type { PublicUrls } from "../public-urls.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../observe/log.ts";
import type { Meter } from "../observe/meter.ts";
import type { ProjectChanges, Project, SocketClose, Store } from "../store/store.ts";
import type { ProjectId } from "@relay/protocol";
import type { LinkDriver } from "./driver.ts";
import { Handshake } from "./handshake.ts";
import { LinkActions } from "./link-actions.ts";
import { LiveProjects } from "./live.ts";
import { Manifests } from "./manifests.ts";
import type { Quota } from "./quota.ts";
import { Refusals } from "./refusals.ts";
import { Registry } from "./registry.ts";
import { Router } from "./router.ts";
import type { Seal } from "./seal.ts";
import { Settler } from "./settle.ts";

const FORGET_EVERY_MS = 30_000;
const SWEEP_EVERY_MS = 60 * 60_000;
const DRAIN_STEP_MS = 20;
/** Sockets closed in one step of a drain, so that their apps do not all come back at once. */
const DRAIN_CLOSES_PER_STEP = 500;
const REVOKED_LINK_DAYS = 30;
const ROLL_UP_MONTHS = 13;
/** Rows still unwritten at the end of a drain get this long. */
const FLUSH_MS = 5_000;

export type NodeDeps = {
  readonly store: Store;
  readonly bus: Bus;
  readonly quota: Quota;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: Log;
  readonly urls: PublicUrls;
  readonly meter?: Meter | undefined;
};

/** One running Relay: what joins hosts and apps, with its life from start to drain. */
export class RelayNode {
  readonly registry: Registry;
  readonly router: Router;
  readonly handshake: Handshake;
  readonly actions: LinkActions;
  readonly settler: Settler;
  readonly live = new LiveProjects();
  readonly refusals: Refusals;
  readonly #deps: NodeDeps;
  #isDraining = false;
  #isClosed = false;

  constructor(deps: NodeDeps) {
    this.#deps = deps;
    this.refusals = new Refusals(deps.clock);
    this.settler = new Settler({ ...deps, live: this.live });
    this.registry = new Registry({ ...deps, settler: this.settler });
    const { live, refusals, registry } = this;
    const parts = { ...deps, live, refusals, registry, manifests: new Manifests(deps.store) };
    this.actions = new LinkActions({ ...parts, mcpUrlOf: (token) => this.mcpUrlOf(token) });
    this.router = new Router({ ...parts, settler: this.settler });
    this.handshake = new Handshake({ ...parts, actions: this.actions });
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Calls that are in an app or wait for their quota decision. */
  get inFlight(): number {
    let calls = 0;
    for (const driver of this.registry.drivers()) calls += driver.inFlight;
    return calls;
  }

  /** The URL a host is given for a link. */
  mcpUrlOf(token: UrlToken): string {
    return `${this.#deps.urls.mcp}/v1/mcp/${token}`;
  }

  /** Gives up what an earlier run of this node left behind, joins the bus, begins to tidy up. */
  async start(): Promise<void> {
    await this.#deps.store.releaseNode(this.#deps.bus.node, this.#deps.clock.wall());
    this.#deps.bus.join({
      order: (order) => this.actions.carryOut(order),
      notice: (notice) => this.#reloadProject(notice.projectId),
      peerLost: (node) => void this.#releasePeer(node),
    });
    this.#every(FORGET_EVERY_MS, async () => {
      this.registry.forgetIdle(this.#deps.clock.monotonic());
    });
    this.#every(SWEEP_EVERY_MS, () => this.sweep());
  }

  /** Drops what is too old by the limits in force. */
  async sweep(): Promise<void> {
    const { store, clock, limits } = this.#deps;
    await store.sweep({
      now: clock.wall(),
      callRetentionDays: limits.callRetentionDays,
      unusedLinkDays: limits.unusedLinkDays,
      revokedLinkDays: REVOKED_LINK_DAYS,
      rollUpMonths: ROLL_UP_MONTHS,
    });
  }

  /** Changes a project and makes every node act on it; null when there is none. */
  async changeProject(projectId: ProjectId, changes: ProjectChanges): Promise<Project | null> {
    const project = await this.#deps.store.changeProject(projectId, changes);
    if (project !== null) await this.#deps.bus.publish({ type: "project_changed", projectId });
    return project;
  }

  /**
   * Deletes a project: its keys are dead at once and its links closed as if revoked; calls in flight
   * end as `disconnected`. False when there is none. What it had is dropped afterwards, bit by bit.
   */
  async deleteProject(projectId: ProjectId): Promise<boolean> {
    const { store, bus, clock, log } = this.#deps;
    if (!(await store.deleteProject(projectId, clock.wall()))) return false;
    await bus.publish({ type: "project_changed", projectId });
    store.purgeProject(projectId).catch((error: unknown) => {
      log.warn({ err: error, projectId }, "a deleted project was not purged; the next sweep does");
    });
    return true;
  }

  /** The socket of `epoch`, which had been greeted, is gone. */
  socketClosed(driver: LinkDriver, epoch: number, close: SocketClose): void {
    const { store, clock, log } = this.#deps;
    this.registry.disconnect(driver, epoch);
    driver.project.sockets -= 1;
    const at = clock.wall();
    if (driver.link.ownerEpoch === epoch) {
      driver.update({ ...driver.link, ownerNode: null, lastSeenAt: at });
      this.live.linkChanged(driver.link);
    }
    // Of a socket that another one took over from, the store only keeps how it ended.
    store.releaseLink(driver.linkId, epoch, at, close).catch((error: unknown) => {
      log.warn({ err: error, linkId: driver.linkId }, "a closed link is still shown as connected");
    });
  }

  /** Why a call could not pass now, or null (SPEC 13: `/readyz`). */
  async whyNotReady(): Promise<string | null> {
    if (this.#isDraining) return "draining";
    if (!this.#deps.bus.isUp()) return "the bus is down";
    if (this.settler.isLate) return "the store is late";
    try {
      await this.#deps.store.probe();
      return null;
    } catch (error) {
      this.#deps.log.error({ err: error }, "the store can't be written");
      return "the store can't be written";
    }
  }

  /**
   * Lets calls in flight finish for at most `ms`, closing each socket with 1012 once its calls are
   * done; what is left then ends as `disconnected`. Resolves when nothing is left to write.
   */
  async drain(ms: number): Promise<void> {
    this.#isDraining = true;
    this.live.close();
    const { clock, log } = this.#deps;
    const until = clock.monotonic() + ms;
    while (this.#closeQuiet(clock.monotonic() >= until) > 0) await this.#pause(DRAIN_STEP_MS);
    for (const driver of this.registry.drivers()) driver.giveUp();
    const unwritten = await this.settler.flush(FLUSH_MS);
    if (unwritten > 0) log.error({ unwritten }, "calls were not written down before the end");
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#deps.bus.close();
  }

  /** Closes sockets whose calls are done, or all of them; returns how many are still connected. */
  #closeQuiet(all: boolean): number {
    let closed = 0;
    let left = 0;
    for (const driver of this.registry.drivers()) {
      if (!driver.isConnected) continue;
      const mayClose = all || (driver.inFlight === 0 && closed < DRAIN_CLOSES_PER_STEP);
      if (!mayClose) {
        left += 1;
        continue;
      }
      driver.closeSocket(1012);
      this.registry.noteDisconnected(driver);
      closed += 1;
    }
    return left;
  }

  async #reloadProject(projectId: ProjectId): Promise<void> {
    this.#deps.quota.projectChanged?.(projectId);
    const project = await this.#deps.store.getProject(projectId);
    if (project === null) return this.#projectGone(projectId);
    this.registry.projectChanged(project);
    if (!project.suspended && !project.stopped) return;
    for (const driver of this.registry.driversOf(projectId)) {
      driver.closeSocket(4423);
      this.registry.noteDisconnected(driver);
    }
  }

  #projectGone(projectId: ProjectId): void {
    this.actions.endProject(projectId);
    this.live.projectGone(projectId);
    this.refusals.forget(projectId);
  }

  async #releasePeer(node: string): Promise<void> {
    const { store, clock, log } = this.#deps;
    try {
      await store.releaseNode(node, clock.wall());
    } catch (error) {
      log.error({ err: error }, "the links of a lost node are still shown as connected");
    }
  }

  #every(ms: number, run: () => Promise<void>): void {
    const { clock, log } = this.#deps;
    clock.after(ms, () => {
      if (this.#isClosed) return;
      run()
        .catch((error: unknown) => log.error({ err: error }, "a periodic job failed"))
        .finally(() => this.#every(ms, run));
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.after(ms, resolve));
  }
}
