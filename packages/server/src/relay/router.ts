import { cutToolName } from "@relay/protocol";
import type { CallId, RequestId, UrlToken } from "@relay/protocol";
import type { Clock } from "../clock.ts";
import type { Judgement } from "../core/host-gate.ts";
import type { ToolCall } from "../core/host-request.ts";
import { hashToken, mintToken, tokenHashKey } from "../ids.ts";
import type { CallRow, Client, Store } from "../store/store.ts";
import type { CallObserver, LinkDriver } from "./driver.ts";
import type { Limits } from "@relay/protocol";
import type { LiveProjects } from "./live.ts";
import type { Manifests, OpenManifest } from "./manifests.ts";
import type { Registry } from "./registry.ts";
import type { Settler } from "./settle.ts";

/** A call that ended by the manifest alone, or one that is on its way to the app. */
export type Routed = (Exclude<Judgement, { type: "fits" }> | { readonly type: "started" }) & {
  readonly callId: CallId;
};

export type RouterDeps = {
  readonly store: Store;
  readonly registry: Registry;
  readonly manifests: Manifests;
  readonly settler: Settler;
  readonly live: LiveProjects;
  readonly clock: Clock;
  readonly limits: Limits;
};

/** Finds the link a host asks for and brings its calls to where they are decided. */
export class Router {
  readonly #deps: RouterDeps;

  constructor(deps: RouterDeps) {
    this.#deps = deps;
  }

  /** Returns the link of a URL token if its app is connected: from memory, at once. */
  connected(token: UrlToken): LinkDriver | null {
    return this.#deps.registry.findConnectedByUrl(tokenHashKey(token));
  }

  /** Returns the link of a URL token; null when nobody has it. Reads the store for offline links. */
  async open(token: UrlToken): Promise<LinkDriver | null> {
    const { registry, store } = this.#deps;
    const connected = this.connected(token);
    if (connected !== null) return connected;
    const record = await store.findLinkByUrlToken(hashToken(token));
    return record === null ? null : registry.open(record);
  }

  /** Returns the manifest of the link's last hello if it is at hand. */
  manifestAtHand(driver: LinkDriver): OpenManifest | null {
    const hash = driver.link.manifestHash;
    return hash === null ? null : this.#deps.manifests.peek(hash);
  }

  /** Returns the manifest of the link's last hello; null before the first. */
  async manifestOf(driver: LinkDriver): Promise<OpenManifest | null> {
    const { manifests, store, registry } = this.#deps;
    const hash = driver.link.manifestHash;
    if (hash === null) return null;
    const open = manifests.peek(hash) ?? (await manifests.load(hash));
    if (open !== null) return open;
    // A hello replaced it between two reads: the link's record says by what.
    const record = await store.getLink(driver.linkId);
    const newer = record === null ? null : registry.open(record).link.manifestHash;
    return newer === null || newer === hash ? null : manifests.load(newer);
  }

  /** Keeps who asked last on the link; writes only what changed. */
  noteClient(driver: LinkDriver, client: Client): void {
    const last = driver.link.client;
    if (last?.name === client.name && last.version === client.version) return;
    driver.update({ ...driver.link, client });
    this.#deps.store.noteClient(driver.linkId, client);
    this.#deps.live.hostNoted(driver.link.projectId, client);
  }

  /** Judges a call by the manifest and, if it fits, starts it; either way it ends exactly once. */
  call(
    driver: LinkDriver,
    open: OpenManifest | null,
    call: ToolCall,
    requestId: RequestId,
    observer: CallObserver,
  ): Routed {
    const { clock } = this.#deps;
    const callId = mintToken("callId");
    const { callsPerMinute } = driver.project.project;
    const startedAt = clock.wall();
    const judgement = driver.gate.judge(
      call,
      open?.toolbox ?? null,
      callsPerMinute,
      clock.monotonic(),
    );
    if (judgement.type !== "fits") {
      const toolKnown = open?.toolbox.get(call.name) !== undefined;
      this.#note(driver, {
        callId,
        call,
        requestId,
        startedAt,
        toolKnown,
        outcome: judgement.type,
      });
      return { ...judgement, callId };
    }
    driver.start({
      callId,
      requestId,
      rpcKey: call.idKey,
      tool: judgement.tool,
      argumentsText: judgement.argumentsText,
      argumentsBytes: call.arguments.bytes,
      client: call.client,
      observer,
    });
    return { type: "started", callId };
  }

  /** Leaves the row of a call that the manifest alone refused. */
  #note(
    driver: LinkDriver,
    refused: Pick<CallRow, "callId" | "requestId" | "startedAt" | "toolKnown" | "outcome"> & {
      readonly call: ToolCall;
    },
  ): void {
    const { clock, settler, limits } = this.#deps;
    const { call, ...facts } = refused;
    const row: CallRow = {
      ...facts,
      projectId: driver.link.projectId,
      linkId: driver.linkId,
      tool: cutToolName(call.name),
      client: call.client ?? driver.link.client,
      counted: false,
      durationMs: 0,
      requestBytes: call.arguments.bytes,
      resultBytes: 0,
    };
    settler.note(row, !driver.gate.keepsRefusedRow(clock.monotonic(), limits));
  }
}
