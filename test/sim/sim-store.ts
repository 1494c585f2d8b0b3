import type { LinkId, ProjectId, UrlToken } from "@relay/protocol";
import { StoreError } from "../../packages/server/src/store/store.ts";
import type {
  CallRow,
  ClaimedLink,
  Link,
  LinkAndProject,
  LinkClaim,
  LinkRotation,
  Manifest,
  Project,
  ProjectChanges,
  SocketClose,
  Store,
} from "../../packages/server/src/store/store.ts";
import { hashToken } from "../../packages/server/src/ids.ts";
import { settle } from "./microtasks.ts";
import type { Random } from "./random.ts";
import type { Judge } from "./judge.ts";
import type { SimClock } from "./sim-clock.ts";

/**
 * What the disk does to a write: all is well; it fails before the commit; it commits and the answer
 * is lost; or each of these as chance has it.
 */
export type Trouble = "none" | "fails" | "loses" | "mixed";

export type StoreDeps = {
  readonly clock: SimClock;
  readonly random: Random;
  readonly judge: Judge;
  readonly say: (line: () => string) => void;
};

/** The part of `Store` that a node needs for its links and calls. */
type Needed = Pick<
  Store,
  | "releaseNode"
  | "sweep"
  | "getProject"
  | "changeProject"
  | "getLink"
  | "findLinkByLinkToken"
  | "findLinkByUrlToken"
  | "getManifest"
  | "claimLink"
  | "releaseLink"
  | "rotateLink"
  | "forgetSealedUrl"
  | "setLinkPaused"
  | "revokeLink"
  | "noteClient"
  | "recordCall"
  | "probe"
  | "writeDelayMs"
>;

/**
 * What the store promises, in memory: one write after the other, in the order they were asked for,
 * each answered when it is committed. Its disk can be slow, hang, fail and lose answers.
 */
export class SimStore implements Needed {
  trouble: Trouble = "none";
  /** Whether something has ever gone wrong: only then may the relay complain. */
  hadTrouble = false;
  /** The rows by the id of the host's request, and how many of each hour were counted. */
  readonly rows = new Map<string, CallRow>();
  readonly rollUps = new Map<string, { calls: number; counted: number }>();
  readonly #deps: StoreDeps;
  readonly #projects = new Map<ProjectId, Project>();
  readonly #links = new Map<LinkId, Link>();
  readonly #byLinkToken = new Map<string, LinkId>();
  readonly #manifests = new Map<string, Manifest>();
  #hangsUntil = 0;
  #lastCommitAt = 0;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  /** Nothing is committed before `ms` have passed. */
  hang(ms: number): void {
    this.hadTrouble = true;
    this.#hangsUntil = this.#deps.clock.monotonic() + ms;
  }

  /** Whether what is written now is committed within moments. */
  get isWell(): boolean {
    return this.trouble === "none" && this.#hangsUntil <= this.#deps.clock.monotonic();
  }

  addProject(project: Project): void {
    this.#projects.set(project.projectId, project);
  }

  addLink(link: Link, linkToken: string): void {
    this.#links.set(link.linkId, link);
    this.#byLinkToken.set(keyOf(hashToken(linkToken)), link.linkId);
  }

  /** The record as it is committed. */
  linkOf(linkId: LinkId): Link | null {
    return this.#links.get(linkId) ?? null;
  }

  hasUrl(token: UrlToken): boolean {
    return this.#findByUrl(hashToken(token)) !== null;
  }

  releaseNode(node: string): Promise<number> {
    return this.#write("releaseNode", () => {
      const owned = [...this.#links.values()].filter((link) => link.ownerNode === node);
      for (const link of owned) this.#links.set(link.linkId, { ...link, ownerNode: null });
      return owned.length;
    });
  }

  sweep(): Promise<void> {
    return this.#write("sweep", () => undefined);
  }

  getProject(projectId: ProjectId): Promise<Project | null> {
    return this.#read(() => this.#projects.get(projectId) ?? null);
  }

  changeProject(projectId: ProjectId, changes: ProjectChanges): Promise<Project | null> {
    return this.#write("changeProject", () => {
      const before = this.#projects.get(projectId);
      if (before === undefined) return null;
      const project = { ...before, ...changes };
      this.#projects.set(projectId, project);
      return project;
    });
  }

  getLink(linkId: LinkId): Promise<LinkAndProject | null> {
    return this.#read(() => this.#withProject(this.#links.get(linkId)));
  }

  findLinkByLinkToken(hash: Uint8Array): Promise<LinkAndProject | null> {
    return this.#read(() => {
      const linkId = this.#byLinkToken.get(keyOf(hash));
      return this.#withProject(linkId === undefined ? undefined : this.#live(linkId));
    });
  }

  findLinkByUrlToken(hash: Uint8Array): Promise<LinkAndProject | null> {
    return this.#read(() => this.#withProject(this.#findByUrl(hash) ?? undefined));
  }

  getManifest(hash: string): Promise<Manifest | null> {
    return this.#read(() => this.#manifests.get(hash) ?? null);
  }

  claimLink(claim: LinkClaim): Promise<ClaimedLink | "gone"> {
    return this.#write("claimLink", () => {
      const link = this.#live(claim.linkId);
      if (link === undefined) return "gone";
      const { manifest } = claim;
      this.#manifests.set(manifest.hash, manifest);
      const claimed: Link = {
        ...link,
        ownerNode: claim.node,
        ownerEpoch: link.ownerEpoch + 1,
        manifestHash: manifest.hash,
        app: manifest.app,
        toolCount: manifest.toolCount,
        lastSeenAt: claim.at,
      };
      this.#links.set(claim.linkId, claimed);
      return this.#withProject(claimed) ?? "gone";
    });
  }

  releaseLink(
    linkId: LinkId,
    epoch: number,
    at: number,
    _close: SocketClose | null,
  ): Promise<void> {
    return this.#write("releaseLink", () => {
      const link = this.#links.get(linkId);
      if (link === undefined || link.ownerEpoch !== epoch || link.ownerNode === null) return;
      this.#links.set(linkId, { ...link, ownerNode: null, lastSeenAt: at });
    });
  }

  rotateLink(rotation: LinkRotation): Promise<{ readonly before: Uint8Array } | "gone"> {
    return this.#write("rotateLink", () => {
      const link = this.#live(rotation.linkId);
      if (link === undefined) return "gone";
      const { urlTokenHash, sealedUrl } = rotation;
      this.#links.set(link.linkId, { ...link, urlTokenHash, sealedUrl });
      return { before: link.urlTokenHash };
    });
  }

  forgetSealedUrl(linkId: LinkId, urlTokenHash: Uint8Array): Promise<void> {
    return this.#write("forgetSealedUrl", () => {
      const link = this.#links.get(linkId);
      if (link === undefined || keyOf(link.urlTokenHash) !== keyOf(urlTokenHash)) return;
      this.#links.set(linkId, { ...link, sealedUrl: null });
    });
  }

  setLinkPaused(linkId: LinkId, paused: boolean): Promise<boolean> {
    return this.#write("setLinkPaused", () => {
      const link = this.#live(linkId);
      if (link === undefined) return false;
      this.#links.set(linkId, { ...link, paused });
      return true;
    });
  }

  revokeLink(linkId: LinkId, at: number): Promise<boolean> {
    return this.#write("revokeLink", () => {
      const link = this.#links.get(linkId);
      if (link === undefined) return false;
      this.#links.set(linkId, { ...link, revokedAt: link.revokedAt ?? at });
      return true;
    });
  }

  noteClient(): void {
    // Written late, and nothing of the relay depends on it.
  }

  recordCall(call: CallRow, _rollUpOnly: boolean): Promise<void> {
    return this.#write("recordCall", () => {
      const before = this.rows.get(call.requestId);
      if (before !== undefined) {
        const same = JSON.stringify(before) === JSON.stringify(call);
        this.#deps.judge.check("endsOnce", same, () => {
          return `${call.requestId} was written as ${before.outcome} and then as ${call.outcome}`;
        });
        return;
      }
      this.rows.set(call.requestId, call);
      const hour = `${call.projectId} ${Math.floor(call.startedAt / 3_600_000)} ${call.outcome}`;
      const sum = this.rollUps.get(hour) ?? { calls: 0, counted: 0 };
      sum.calls += 1;
      sum.counted += Number(call.counted);
      this.rollUps.set(hour, sum);
      this.#deps.say(() => `store: row ${call.requestId} ${call.outcome} counted=${call.counted}`);
    });
  }

  probe(): Promise<void> {
    return this.#write("probe", () => undefined);
  }

  writeDelayMs(): number {
    return 0;
  }

  #live(linkId: LinkId): Link | undefined {
    const link = this.#links.get(linkId);
    return link?.revokedAt === null ? link : undefined;
  }

  #findByUrl(hash: Uint8Array): Link | null {
    const key = keyOf(hash);
    for (const link of this.#links.values()) {
      if (link.revokedAt === null && keyOf(link.urlTokenHash) === key) return link;
    }
    return null;
  }

  #withProject(link: Link | undefined): LinkAndProject | null {
    const project = link === undefined ? undefined : this.#projects.get(link.projectId);
    return link === undefined || project === undefined ? null : { link, project };
  }

  /** Reads what is committed; short reads are quick, but they can be kept waiting and fail. */
  async #read<Result>(read: () => Result): Promise<Result> {
    const { random } = this.#deps;
    if (random.chance(0.1)) await this.#pause(random.whole(1, 20));
    if (this.#draw() === "fails") throw away("can't be read");
    const result = read();
    await settle(random.whole(0, 2));
    return result;
  }

  /** Commits in the order of the asking; one that fails changes nothing. */
  #write<Result>(verb: string, commit: () => Result): Promise<Result> {
    const { clock, random, say } = this.#deps;
    const now = clock.monotonic();
    const takes = random.chance(0.6) ? 0 : random.whole(1, 30);
    const at = Math.max(now + takes, this.#hangsUntil, this.#lastCommitAt);
    this.#lastCommitAt = at;
    return new Promise((resolve, reject) => {
      clock.after(at - now, () => {
        const fate = this.#draw();
        if (fate !== "none") say(() => `store: ${verb} ${fate}`);
        if (fate === "fails") return reject(away("can't be written"));
        const result = commit();
        if (fate === "loses") reject(away("did not answer"));
        else resolve(result);
      });
    });
  }

  #draw(): "none" | "fails" | "loses" {
    const { random } = this.#deps;
    if (this.trouble !== "none") this.hadTrouble = true;
    if (this.trouble !== "mixed") return this.trouble;
    return random.pick(["none", "none", "fails", "loses"]);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.after(ms, resolve));
  }
}

function away(what: string): StoreError {
  return new StoreError("unavailable", `The simulated store ${what}.`);
}

function keyOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString("hex");
}
