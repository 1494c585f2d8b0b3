import { defaultLimits, parseAppFrame } from "@relay/protocol";
import type { CloseCode, Limits } from "@relay/protocol";
import type { LinkFetch } from "../create-link.ts";
import { memoryStore } from "../link-store.ts";
import type { LinkStore } from "../link-store.ts";
import type { SocketConstructor } from "../runtime.ts";
import { FakeLink } from "./fake-link.ts";
import type { FakeHome } from "./fake-link.ts";
import { FakeSocket } from "./fake-socket.ts";
import type { FakePeer } from "./fake-socket.ts";

export type FakeRelayOptions = {
  /** The name hosts hear before the app has connected. */
  readonly projectName?: string;
  /** Limits other than Relay's own, such as a short `callTimeoutSeconds`. */
  readonly limits?: Partial<Limits>;
  /** A clock of the test's own; real timers otherwise. */
  readonly after?: (ms: number, run: () => void) => () => void;
  readonly wall?: () => number;
};

/**
 * A Relay in memory with one project. Pass `app()` to `createRelay`, call tools through `link`, and
 * use `drop`, `close` and the settings to make happen what happens to apps. Arguments are not
 * checked against a tool's `inputSchema`; a real Relay refuses those that don't fit before any app
 * sees them. Nor are calls counted or limited per minute.
 */
export class FakeRelay {
  readonly url = "http://relay.test";
  readonly publishableKey = "pk_FakeFakeFakeFakeFakeFakeFakeFake";
  /** While true, Relay can't be reached at all. */
  isDown = false;
  /** While false, this app's origin is not allowed. */
  isOriginAllowed = true;
  readonly links: FakeLink[] = [];
  readonly #home: FakeHome;
  readonly #sockets = new Set<FakeSocket>();
  #isSuspended = false;
  #minted = 0;

  constructor(options: FakeRelayOptions = {}) {
    this.#home = {
      limits: { ...defaultLimits(), ...options.limits },
      projectName: options.projectName ?? "Notes",
      after: options.after ?? realAfter,
      wall: options.wall ?? (() => Date.now()),
      mint: (prefix, characters) => this.#mint(prefix, characters),
    };
  }

  /** What `createRelay` needs to find this Relay: spread it into the options. */
  app(store: LinkStore = memoryStore()): {
    readonly relayUrl: string;
    readonly publishableKey: string;
    readonly fetch: LinkFetch;
    readonly WebSocket: SocketConstructor;
    readonly store: LinkStore;
  } {
    const { url: relayUrl, publishableKey, fetch, WebSocket } = this;
    return { relayUrl, publishableKey, fetch, WebSocket, store };
  }

  /** The newest link. Throws while there is none. */
  get link(): FakeLink {
    const link = this.links.at(-1);
    if (link === undefined) throw new Error("no app has created a link yet");
    return link;
  }

  /** Creates a link without an app, as `POST /v1/links` does. */
  createLink(label: string | null = null): FakeLink {
    const link = new FakeLink(
      this.#home,
      label,
      () => `${this.url}/v1/mcp/${this.#mint("ut_", 32)}`,
    );
    this.links.push(link);
    return link;
  }

  /** Loses every connection at once: apps see 1006. */
  drop(): void {
    for (const socket of this.#sockets) socket.drop();
    for (const link of this.links) link.drop();
  }

  /** Closes every socket, as a deploy does with 1012. */
  close(code: CloseCode): void {
    for (const link of this.links) link.close(code);
  }

  /** Suspends the project, which closes its sockets with 4423, or lets it go on. */
  suspend(isSuspended = true): void {
    this.#isSuspended = isSuspended;
    if (isSuspended) this.close(4423);
  }

  readonly fetch: LinkFetch = async (url, { headers, body }) => {
    // A turn of the loop, as any request takes.
    await Promise.resolve();
    if (this.isDown) throw new TypeError("fetch failed");
    if (url !== `${this.url}/v1/links`) return refusal(404, "NOT_FOUND", "No such address");
    if (headers["Authorization"] !== `Bearer ${this.publishableKey}`) {
      return refusal(401, "UNAUTHORIZED", "Missing or invalid publishable key");
    }
    if (this.#isSuspended) return refusal(403, "PROJECT_SUSPENDED", "The project is suspended");
    if (!this.isOriginAllowed) {
      return refusal(403, "ORIGIN_NOT_ALLOWED", "The project does not allow this origin");
    }
    // The client's own body.
    const { label = null } = JSON.parse(body) as { readonly label?: string | null };
    if (label !== null && Array.from(label).length > this.#home.limits.labelChars) {
      return refusal(400, "VALIDATION_ERROR", "label must be at most 64 characters");
    }
    return response(201, this.createLink(label).record);
  };

  /** A WebSocket whose other end is this Relay. */
  readonly WebSocket: SocketConstructor = socketOf((socket) => this.#accept(socket));

  #accept(socket: FakeSocket): FakePeer | null {
    if (this.isDown) return null;
    this.#sockets.add(socket);
    let link: FakeLink | null = null;
    const { helloTimeoutSeconds } = this.#home.limits;
    const cancelTimer = this.#home.after(helloTimeoutSeconds * 1000, () =>
      refuse(4400, `hello did not come within ${helloTimeoutSeconds} seconds`),
    );
    const refuse = (code: CloseCode, message: string | null): void => {
      cancelTimer();
      if (message !== null) {
        socket.deliver({ type: "error", id: null, code: "invalid_message", message });
      }
      socket.closeByRelay(code);
    };
    const greet = (text: string): void => {
      const parsed = parseAppFrame(JSON.parse(text));
      if ("fault" in parsed) return refuse(4400, parsed.fault.message);
      const { frame } = parsed;
      if (frame.type !== "hello") return refuse(4400, "the first frame must be hello");
      const known = this.links.find(({ linkToken }) => linkToken === frame.token);
      if (known === undefined || known.revoked) return refuse(4401, null);
      if (this.#isSuspended) return refuse(4423, null);
      if (!this.isOriginAllowed) return refuse(4403, null);
      const fault = known.hello(frame, socket);
      if (fault !== null) return refuse(fault.code, fault.message);
      cancelTimer();
      link = known;
    };
    return {
      received: (text) => {
        if (link === null) greet(text);
        else if (link.holds(socket)) link.receive(text);
      },
      gone: () => {
        cancelTimer();
        this.#sockets.delete(socket);
        link?.left(socket);
      },
    };
  }

  #mint(prefix: string, characters: number): string {
    this.#minted += 1;
    return prefix + String(this.#minted).padStart(characters, "0");
  }
}

function realAfter(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

function socketOf(accept: (socket: FakeSocket) => FakePeer | null): SocketConstructor {
  return class extends FakeSocket {
    constructor() {
      super(accept);
    }
  };
}

function response(status: number, body: object): Awaited<ReturnType<LinkFetch>> {
  return { status, headers: { get: () => null }, json: () => Promise.resolve(body) };
}

function refusal(status: number, code: string, message: string): Awaited<ReturnType<LinkFetch>> {
  return response(status, { error: { code, message, requestId: "req_fake" } });
}
