import type { LinkId, LinkToken, ProjectId, UrlToken } from "@relay/protocol";
import type { SimSocket } from "./sim-socket.ts";

/** A project of the simulation, and what was acknowledged about it. */
export class SimProject {
  readonly projectId: ProjectId;
  readonly name: string;
  /** Whether it is disabled, as last acknowledged; null while that is being changed or unknown. */
  readonly disabled = new Acknowledged<boolean>(false);

  constructor(projectId: ProjectId, name: string) {
    this.projectId = projectId;
    this.name = name;
  }
}

/** A link of the simulation: its tokens, its sockets, and what was acknowledged about it. */
export class SimLink {
  readonly name: string;
  readonly project: SimProject;
  readonly linkId: LinkId;
  readonly linkToken: LinkToken;
  readonly sockets: SimSocket[] = [];
  /** The socket that was last told `ready`. */
  newest: SimSocket | null = null;
  readonly paused = new Acknowledged<boolean>(false);
  readonly revoked = new Acknowledged<boolean>(false);
  /** The URL token that leads here; null while it is being changed or unknown. */
  readonly url: Acknowledged<UrlToken>;
  /** Tokens that lead nowhere any more. */
  readonly deadUrls = new Set<UrlToken>();
  /** Every token a host may have. */
  readonly urls: UrlToken[];

  constructor(
    name: string,
    project: SimProject,
    ids: { linkId: LinkId; linkToken: LinkToken; urlToken: UrlToken },
  ) {
    this.name = name;
    this.project = project;
    this.linkId = ids.linkId;
    this.linkToken = ids.linkToken;
    this.url = new Acknowledged(ids.urlToken);
    this.urls = [ids.urlToken];
  }
}

/**
 * A value that others may rely on once a change of it was acknowledged: while changes are under way,
 * and after one that failed, nobody can know.
 */
export class Acknowledged<Value> {
  #value: Value | null;
  #changes = 0;
  #underWay = 0;

  constructor(value: Value) {
    this.#value = value;
  }

  /** Null while it is not known. */
  get value(): Value | null {
    return this.#value;
  }

  /** Begins a change; to be called with the new value once it is acknowledged, null if it failed. */
  begin(): (value: Value | null) => void {
    this.#value = null;
    this.#changes += 1;
    this.#underWay += 1;
    const change = this.#changes;
    const alone = this.#underWay === 1;
    return (value) => {
      this.#underWay -= 1;
      // Of two that overlapped nobody can say which came last.
      if (alone && change === this.#changes && this.#underWay === 0) this.#value = value;
    };
  }
}
