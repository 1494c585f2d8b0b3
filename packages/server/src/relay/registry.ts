import type { LinkId, Limits, ProjectId } from "@relay/protocol";
import type { Link, LinkAndProject, Project } from "../store/store.ts";
import { LinkDriver } from "./driver.ts";
import type { AppSocket, DriverDeps } from "./driver.ts";
import { ProjectState } from "./project-state.ts";

/**
 * The links this node has in its hands: those with a live socket, and for a minute those that were
 * asked for. Bounded by the links there are; `forgetIdle` keeps it to the ones in use.
 */
export class Registry {
  readonly #deps: DriverDeps;
  readonly #limits: Limits;
  readonly #drivers = new Map<LinkId, LinkDriver>();
  /** Connected links by the hash of their URL token: a call of theirs needs no database read. */
  readonly #connectedByUrl = new Map<string, LinkDriver>();
  readonly #projects = new Map<ProjectId, ProjectState>();

  constructor(deps: DriverDeps) {
    this.#deps = deps;
    this.#limits = deps.limits;
  }

  get connectedCount(): number {
    return this.#connectedByUrl.size;
  }

  drivers(): IterableIterator<LinkDriver> {
    return this.#drivers.values();
  }

  find(linkId: LinkId): LinkDriver | null {
    return this.#drivers.get(linkId) ?? null;
  }

  /** `urlTokenKey` is the token's hash as `tokenHashKey` writes it. */
  findConnectedByUrl(urlTokenKey: string): LinkDriver | null {
    const driver = this.#connectedByUrl.get(urlTokenKey);
    // Between a socket's loss and the news of its end only the store knows what the link's URL is.
    return driver?.isConnected === true ? driver : null;
  }

  /** Returns the driver of a link just read from the store; a connected one knows better itself. */
  open(record: LinkAndProject): LinkDriver {
    const known = this.#drivers.get(record.link.linkId);
    if (known !== undefined) {
      if (!known.isConnected) {
        this.noteDisconnected(known);
        known.update(withClientOf(known, record.link));
        this.projectChanged(record.project);
      }
      return known;
    }
    const driver = new LinkDriver(this.#deps, record.link, this.#projectState(record.project));
    this.#drivers.set(record.link.linkId, driver);
    return driver;
  }

  /** Gives a link's new live socket to its driver, returned; null when a newer socket has the link. */
  connect(record: LinkAndProject, end: AppSocket): LinkDriver | null {
    const driver = this.open(record);
    this.#connectedByUrl.delete(urlKey(driver.link.urlTokenHash));
    if (!driver.connect(record.link.ownerEpoch, end)) {
      this.#connectedByUrl.set(urlKey(driver.link.urlTokenHash), driver);
      return null;
    }
    driver.update(withClientOf(driver, record.link));
    this.#connectedByUrl.set(urlKey(record.link.urlTokenHash), driver);
    return driver;
  }

  /** The socket of `epoch` ended; a newer one of the same link is left alone. */
  disconnect(driver: LinkDriver, epoch: number): void {
    driver.disconnect(epoch);
    this.noteDisconnected(driver);
  }

  /** Takes a link whose socket is gone off the list of connected ones. */
  noteDisconnected(driver: LinkDriver): void {
    const key = urlKey(driver.link.urlTokenHash);
    // The late end of a socket whose driver was forgotten must not take its successor off.
    if (!driver.isConnected && this.#connectedByUrl.get(key) === driver) {
      this.#connectedByUrl.delete(key);
    }
  }

  /** The link has a new URL token: the old one leads nowhere from now on. */
  rotated(driver: LinkDriver, urlTokenHash: Uint8Array): void {
    const wasConnected = this.#connectedByUrl.delete(urlKey(driver.link.urlTokenHash));
    driver.update({ ...driver.link, urlTokenHash });
    if (wasConnected) this.#connectedByUrl.set(urlKey(urlTokenHash), driver);
  }

  /** A project's settings are these now, for all its links. */
  projectChanged(project: Project): void {
    const state = this.#projects.get(project.projectId);
    if (state === undefined) return;
    const before = state.project;
    state.update(project);
    if (before.callsPerMinute === project.callsPerMinute) return;
    for (const driver of this.driversOf(project.projectId)) driver.applySettings();
  }

  driversOf(projectId: ProjectId): LinkDriver[] {
    return [...this.#drivers.values()].filter((driver) => driver.link.projectId === projectId);
  }

  /** The shared state of a project in use. */
  projectOf(project: Project): ProjectState {
    return this.#projectState(project);
  }

  /** Forgets links and projects that nothing would be lost with. */
  forgetIdle(now: number): void {
    const used = new Set<ProjectId>();
    for (const [linkId, driver] of this.#drivers) {
      if (driver.isIdle(now)) this.#drivers.delete(linkId);
      else used.add(driver.link.projectId);
    }
    for (const [projectId, state] of this.#projects) {
      if (!used.has(projectId) && state.sockets === 0) this.#projects.delete(projectId);
    }
  }

  #projectState(project: Project): ProjectState {
    const known = this.#projects.get(project.projectId);
    if (known !== undefined) return known;
    const state = new ProjectState(project, this.#limits);
    this.#projects.set(project.projectId, state);
    return state;
  }
}

/** The last client is written late, so what a driver knows of it is newer than the store. */
function withClientOf(driver: LinkDriver, link: Link): Link {
  return { ...link, client: driver.link.client ?? link.client };
}

/** A hash as a map key: one character a byte. */
function urlKey(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString("latin1");
}
