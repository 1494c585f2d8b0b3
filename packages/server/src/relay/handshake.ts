import { CLOSE_CODES, PROTOCOL_VERSION, parseToken } from "@relay/protocol";
import type { AppFrame, CloseCode, FrameErrorCode, Limits } from "@relay/protocol";
import type { Bus } from "../cluster/bus.ts";
import { admitManifest } from "../core/hello.ts";
import { memberSpans, rawSlice } from "../core/json.ts";
import type { Clock } from "../clock.ts";
import { hashText, hashToken } from "../ids.ts";
import type { Log } from "../observe/log.ts";
import type { LinkAndProject, Project, SocketClose, Store } from "../store/store.ts";
import type { AppSocket, LinkDriver } from "./driver.ts";
import type { LinkActions } from "./link-actions.ts";
import type { LiveProjects } from "./live.ts";
import type { Manifests, OpenManifest } from "./manifests.ts";
import type { Refusals } from "./refusals.ts";
import type { Registry } from "./registry.ts";
import type { Seal } from "./seal.ts";

export type HelloFrame = Extract<AppFrame, { type: "hello" }>;

/** Who says hello: the socket, and the browser origin its upgrade came from. */
export type Peer = {
  readonly end: AppSocket;
  readonly origin: string | null;
  readonly isOpen: () => boolean;
  /** How the socket closed or is closing; null while nobody knows. */
  readonly closeKnown: () => SocketClose | null;
};

/** `frame` is the error frame that goes before the close, where the app can mend something. */
export type HelloRefusal = {
  readonly type: "refused";
  readonly code: CloseCode;
  readonly frame: { readonly code: FrameErrorCode; readonly message: string } | null;
};

export type Greeting =
  | HelloRefusal
  | { readonly type: "ready"; readonly driver: LinkDriver; readonly epoch: number }
  /** The socket went away while it was greeted. */
  | { readonly type: "left" };

export type HandshakeDeps = {
  readonly store: Store;
  readonly bus: Bus;
  readonly registry: Registry;
  readonly manifests: Manifests;
  readonly actions: LinkActions;
  readonly seal: Seal;
  readonly live: LiveProjects;
  readonly refusals: Refusals;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: Log;
};

/**
 * Turns a hello into the link's live socket. The checks run from cheap to dear, and nobody without
 * a token makes Relay judge a manifest; only a valid hello disturbs the older socket (SPEC 5).
 */
export class Handshake {
  readonly #deps: HandshakeDeps;

  constructor(deps: HandshakeDeps) {
    this.#deps = deps;
  }

  /** `text` is the frame as it came. Never rejects: a store that is away is a refusal. */
  async greet(hello: HelloFrame, text: string, peer: Peer): Promise<Greeting> {
    if (hello.protocol !== PROTOCOL_VERSION) {
      return broken(
        `protocol ${hello.protocol} is not supported; this Relay speaks ${PROTOCOL_VERSION}`,
      );
    }
    const token = parseToken("linkToken", hello.token);
    if (token === null) return refuse(4401);
    try {
      const record = await this.#deps.store.findLinkByLinkToken(hashToken(token));
      if (record === null) return refuse(4401);
      const greeting = await this.#admit(record, hello, text, peer);
      if (greeting.type === "refused") this.#noteRefusal(record.project, greeting, peer.origin);
      return greeting;
    } catch (error) {
      this.#deps.log.error({ err: error }, "a hello was not stored");
      return refuse(1011, { code: "internal", message: "the relay could not store the hello" });
    }
  }

  #noteRefusal({ projectId }: Project, refusal: HelloRefusal, origin: string | null): void {
    const { refusals } = this.#deps;
    if (refusal.code === 4403) refusals.originRefused(projectId, origin ?? "");
    else refusals.helloRefused(projectId, refusal.code, refusal.frame?.message ?? null);
  }

  async #admit(
    record: LinkAndProject,
    hello: HelloFrame,
    text: string,
    peer: Peer,
  ): Promise<Greeting> {
    const { registry, limits } = this.#deps;
    const driver = registry.open(record);
    const { project } = driver;
    if (project.isDisabled) return refuse(4423);
    if (!project.allowsOrigin(peer.origin)) return refuse(4403);
    if (!driver.takeHello()) return refuse(4429);
    if (!driver.isConnected && project.sockets >= limits.socketsPerProject) return refuse(4429);
    project.sockets += 1;
    let greeting: Greeting = { type: "left" };
    try {
      greeting = await this.#claim(driver, hello, text, peer);
    } finally {
      if (greeting.type !== "ready") project.sockets -= 1;
    }
    return greeting;
  }

  async #claim(driver: LinkDriver, hello: HelloFrame, text: string, peer: Peer): Promise<Greeting> {
    const { store, bus, clock, registry } = this.#deps;
    const judged = await this.#judge(hello, text);
    if ("type" in judged) return judged;
    if (!peer.isOpen()) return { type: "left" };
    const { linkId } = driver;
    const claimed = await store.claimLink({
      linkId,
      node: bus.node,
      manifest: judged.manifest,
      at: clock.wall(),
    });
    if (claimed === "gone") return refuse(4401);
    const epoch = claimed.link.ownerEpoch;
    const refusal = driver.project.isDisabled ? refuse(4423) : null;
    // The driver in use now: a claim can take so long that the one from before was forgotten.
    const owner = refusal === null ? registry.connect(claimed, peer.end) : null;
    if (owner === null || !peer.isOpen()) {
      const close = refusal === null ? peer.closeKnown() : closeOf(refusal.code);
      if (owner !== null) this.#leave(owner, epoch);
      await store.releaseLink(linkId, epoch, clock.wall(), close);
      return refusal ?? { type: "left" };
    }
    this.#welcome(owner, judged, peer.end);
    this.#deps.live.linkChanged(owner.link);
    return { type: "ready", driver: owner, epoch };
  }

  /**
   * A socket that is gone by the time its claim is stored has still taken over: the store knows of
   * no other one any more, so an older socket that stayed would be out of reach.
   */
  #leave(owner: LinkDriver, epoch: number): void {
    const { registry, live } = this.#deps;
    registry.disconnect(owner, epoch);
    owner.update({ ...owner.link, ownerNode: null });
    live.linkChanged(owner.link);
  }

  /** Judges a manifest, unless one with the same content was judged before. */
  async #judge(hello: HelloFrame, text: string): Promise<OpenManifest | HelloRefusal> {
    const { manifests, limits } = this.#deps;
    const spans = memberSpans(text);
    const rawOf = (name: string): string | null => {
      const span = spans.get(name);
      return span === undefined ? null : rawSlice(text, span);
    };
    const raw = {
      app: rawOf("app") ?? "",
      instructions: rawOf("instructions"),
      tools: rawOf("tools") ?? "",
    };
    const hash = hashText(raw.app, raw.instructions ?? "", raw.tools);
    const known = await manifests.load(hash);
    if (known !== null) return known;
    const admission = admitManifest(hello, raw, limits);
    if (!admission.ok) return broken(admission.message);
    return manifests.keep({ hash, ...admission.manifest }, admission.toolbox);
  }

  #welcome(driver: LinkDriver, open: OpenManifest, end: AppSocket): void {
    const { limits, seal, actions } = this.#deps;
    const { warnings } = open.manifest;
    end.send(
      JSON.stringify({
        type: "ready",
        linkId: driver.linkId,
        paused: driver.link.paused,
        limits: {
          callTimeoutSeconds: limits.callTimeoutSeconds,
          resultMaxBytes: limits.resultBytes,
        },
        ...(warnings.length === 0 ? {} : { warnings }),
      }),
    );
    const sealed = driver.link.sealedUrl;
    const mcpUrl = sealed === null ? null : seal.open(sealed);
    if (mcpUrl !== null) actions.tellUrl(driver, null, mcpUrl);
  }
}

function refuse(code: CloseCode, frame: HelloRefusal["frame"] = null): HelloRefusal {
  return { type: "refused", code, frame };
}

function closeOf(code: CloseCode): SocketClose {
  return { code, reason: CLOSE_CODES[code].reason };
}

function broken(message: string): HelloRefusal {
  return refuse(4400, { code: "invalid_message", message });
}
