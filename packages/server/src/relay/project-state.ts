import type { Limits } from "@relay/protocol";
import type { LinkSettings } from "../core/link.ts";
import type { Project } from "../store/store.ts";

/** A project as all its links in use share it: one object, so that a change is seen at once. */
export class ProjectState {
  /** Open sockets of the project, with those that are being claimed. */
  sockets = 0;
  readonly #limits: Limits;
  #project: Project;
  #callSettings: LinkSettings;

  constructor(project: Project, limits: Limits) {
    this.#limits = limits;
    this.#project = project;
    this.#callSettings = settingsOf(project, limits);
  }

  get project(): Project {
    return this.#project;
  }

  get callSettings(): LinkSettings {
    return this.#callSettings;
  }

  /** Whether the operator suspended the project or its developer stopped it. */
  get isDisabled(): boolean {
    return this.#project.suspended || this.#project.stopped;
  }

  /** An empty list allows every origin; a request without one is not a browser's (SPEC 4). */
  allowsOrigin(origin: string | null): boolean {
    return allowsOrigin(this.#project, origin);
  }

  update(project: Project): void {
    this.#project = project;
    this.#callSettings = settingsOf(project, this.#limits);
  }
}

/** An empty list allows every origin; a request without one is not a browser's (SPEC 4). */
export function allowsOrigin(project: Project, origin: string | null): boolean {
  const { allowedOrigins } = project;
  return origin === null || allowedOrigins.length === 0 || allowedOrigins.includes(origin);
}

function settingsOf(project: Project, limits: Limits): LinkSettings {
  return {
    callsPerMinute: project.callsPerMinute,
    callsInFlight: limits.callsInFlight,
    callTimeoutMs: limits.callTimeoutSeconds * 1000,
  };
}
