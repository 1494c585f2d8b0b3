import { isCounted } from "@relay/protocol";
import type { CallId, Outcome, RequestId, UrlToken } from "@relay/protocol";
import type { Progress } from "../../packages/server/src/core/host-answers.ts";
import { readHostRequest } from "../../packages/server/src/core/host-request.ts";
import type { CallEnd } from "../../packages/server/src/relay/call-end.ts";
import type { CallObserver, LinkDriver } from "../../packages/server/src/relay/driver.ts";
import type { AppAnswer } from "./app-answers.ts";
import type { SimLink } from "./sim-link.ts";
import type { SimSocket } from "./sim-socket.ts";
import type { World } from "./world.ts";

/** What a host asks for: which link, by which URL, and what. */
export type Asking = {
  readonly link: SimLink;
  readonly url: UrlToken;
  readonly kind: "good" | "unknown" | "invalid";
  /** Some hosts give every request the id 1. */
  readonly rpcId: number;
};

const NO_HEADERS = { get: () => null };
const ANSWER_WAIT_MS = 1_000;

/** One `tools/call` of a host, and everything that becomes of it. */
export class SimCall implements CallObserver {
  readonly name: string;
  readonly requestId: RequestId;
  readonly link: SimLink;
  readonly rpcKey: string;
  callId: CallId | null = null;
  sentTo: SimSocket | null = null;
  /** The outcome that it was told, once it was. */
  outcome: Outcome | null = null;
  /** Whether its link was known to be paused when it began. */
  startedPaused = false;
  /** What the live socket has just said, and the host must read. */
  expects: AppAnswer | null = null;
  /** Whether progress may come now. */
  mayProgress = false;
  readonly #world: World;
  readonly #asking: Asking;
  readonly #number: number;
  #driver: LinkDriver | null = null;
  #startedMs: number | null = null;
  #sentMs: number | null = null;
  #decidedMs: number | null = null;
  #decidedStep = 0;
  #streams = 0;
  #ends = 0;
  #hasLeft = false;

  constructor(world: World, asking: Asking) {
    this.#world = world;
    this.#asking = asking;
    this.#number = world.calls.length;
    this.name = `c${this.#number}`;
    // Made here and read nowhere but in a row, where it names this call.
    this.requestId = `req_${this.name}` as RequestId;
    this.link = asking.link;
    this.rpcKey = `n${asking.rpcId}`;
    world.calls.push(this);
  }

  /** Whether Relay took it as a call: then it ends, and leaves a row. */
  get hasStarted(): boolean {
    return this.#startedMs !== null;
  }

  get hasEnded(): boolean {
    return this.#ends > 0;
  }

  get wasSent(): boolean {
    return this.#sentMs !== null;
  }

  get isCounted(): boolean {
    return this.outcome !== null && isCounted(this.outcome, this.wasSent);
  }

  /** The driver and the call id by which the host's leaving is told. */
  get driver(): LinkDriver | null {
    return this.#driver;
  }

  /** Sends the request, as the MCP endpoint takes it. */
  async post(): Promise<void> {
    const { node, say } = this.#world;
    const { link, kind } = this.#asking;
    say(() => `${this.name}: host asks ${link.name} (${kind}, id ${this.#asking.rpcId})`);
    if (node.isDraining) return this.#turnedAway("draining");
    let driver: LinkDriver | null;
    try {
      driver = await this.#find();
      if (driver === null) return this.#turnedAway("unknown URL");
      if (driver.project.isDisabled) return this.#turnedAway("disabled");
      await this.#start(driver);
    } catch (error) {
      if (!this.#world.store.hadTrouble) throw error;
      this.#turnedAway("store away");
    }
  }

  /** The host closes the stream or the connection. */
  leave(): void {
    if (this.#hasLeft || this.#ends > 0) return;
    this.#hasLeft = true;
    const { open, say, judge } = this.#world;
    say(() => `${this.name}: host leaves`);
    if (this.#driver === null || this.callId === null) return;
    const others = [...open].filter((call) => call !== this);
    this.#driver.hostGone(this.callId);
    judge.check("cancelEnds", !open.has(this), () => `${this.name} goes on without its host`);
    const ended = others.filter((call) => !open.has(call));
    judge.check("cancelEnds", ended.length === 0, () => {
      return `the host of ${this.name} left, which ended ${ended.map((call) => call.name).join(", ")}`;
    });
  }

  /** The frame of the call carries its id before the router returns it. */
  named(id: string): void {
    // As it came from Relay itself.
    this.callId = id as CallId;
  }

  handedTo(socket: SimSocket): void {
    const { clock, judge, limits, open } = this.#world;
    this.sentTo = socket;
    this.#sentMs = clock.monotonic();
    const inApp = [...open].filter((call) => call.sentTo === socket).length;
    judge.check(
      "eightInApp",
      inApp <= limits.callsInFlight,
      () => `${inApp} are in ${socket.name}`,
    );
  }

  sent(): void {
    this.#streams += 1;
    const { judge, say } = this.#world;
    say(() => `${this.name}: stream opens`);
    judge.check("streamEnds", this.#streams === 1 && this.#ends === 0, () => {
      return `the stream of ${this.name} was opened ${this.#streams} times, ended ${this.#ends} times`;
    });
  }

  progressed(_progress: Progress): void {
    const { judge } = this.#world;
    judge.check("streamEnds", this.#ends === 0, () => `${this.name} has progress after its answer`);
    judge.check("liveAnswers", this.mayProgress, () => {
      return `${this.name} has progress from a socket that may not tell`;
    });
  }

  decided(outcome: Outcome): void {
    const { clock, judge, say, open, limits, step } = this.#world;
    say(() => `${this.name}: is ${outcome}`);
    judge.check("endsOnce", this.outcome === null, () => {
      return `${this.name} is ${outcome} and was ${this.outcome}`;
    });
    this.outcome = outcome;
    this.#decidedMs = clock.monotonic();
    this.#decidedStep = step;
    open.delete(this);
    const mustStop = this.wasSent && (outcome === "timeout" || outcome === "cancelled");
    const wasTold = this.sentTo?.stopped.has(this) === true || this.sentTo?.isOpen === false;
    judge.check("toldToStop", !mustStop || wasTold, () => {
      return `${this.name} is ${outcome}, and ${this.sentTo?.name} was not told`;
    });
    const since = this.#sentMs ?? this.#startedMs ?? this.#decidedMs;
    const took = this.#decidedMs - since;
    judge.check("inTime", took <= limits.callTimeoutSeconds * 1000 + 1, () => {
      return `${this.name} was ${outcome} ${took} ms after it was ${this.wasSent ? "sent" : "asked"}`;
    });
    judge.check(
      "inTime",
      outcome !== "timeout" || took >= limits.callTimeoutSeconds * 1000 - 1,
      () => {
        return `${this.name} timed out after ${took} ms`;
      },
    );
  }

  ended(end: CallEnd): void {
    this.#ends += 1;
    const { clock, judge, say, store } = this.#world;
    const now = clock.monotonic();
    say(() => `${this.name}: host reads ${end.outcome}`);
    judge.check("endsOnce", this.#ends === 1 && end.outcome === this.outcome, () => {
      return `${this.name} ended ${this.#ends} times, as ${end.outcome}, and was ${this.outcome}`;
    });
    this.#judgeWords(end);
    const waited = now - (this.#decidedMs ?? now);
    judge.check("inTime", waited <= ANSWER_WAIT_MS + 1, () => `${this.name} waited ${waited} ms`);
    // A frame that its socket could not take ends with the socket, like one that was sent.
    if (this.wasSent || end.outcome === "disconnected") {
      const isRight = store.rows.has(this.requestId) || waited >= ANSWER_WAIT_MS;
      judge.check(
        "rowFirst",
        isRight,
        () => `${this.name} was answered before its row was written`,
      );
      return;
    }
    judge.check("refusedAtOnce", this.#decidedStep === this.#world.step, () => {
      return `${this.name} is ${end.outcome}, and its host waited ${waited} ms for it`;
    });
  }

  #judgeWords(end: CallEnd): void {
    const { judge } = this.#world;
    const said = this.expects?.said ?? null;
    if (end.outcome !== "ok" && end.outcome !== "tool_error") {
      judge.check("liveAnswers", this.expects === null, () => `${this.name} lost its answer`);
      return;
    }
    judge.check("liveAnswers", this.expects !== null, () => {
      return `${this.name} is ${end.outcome}, and its app has not answered`;
    });
    const isOk = this.expects?.how === "result" || this.expects?.how === "failure";
    judge.check("answerEnds", (end.outcome === "ok") === isOk, () => {
      return `${this.name} is ${end.outcome}, and its app answered with ${this.expects?.how}`;
    });
    judge.check("answerEnds", said === null || end.contentText.includes(said), () => {
      return `the host of ${this.name} reads ${end.contentText}, and its app said ${said}`;
    });
    judge.check("answerEnds", end.isError === (this.expects?.how !== "result"), () => {
      return `${this.name} has isError ${end.isError} for ${this.expects?.how}`;
    });
  }

  async #find(): Promise<LinkDriver | null> {
    const { node, judge, random } = this.#world;
    const { link, url } = this.#asking;
    const isDead = link.deadUrls.has(url) || link.revoked.value === true;
    const before = link.url.value;
    // A link at hand is found at once, if the endpoint cares to look.
    const atHand = random.chance(0.5) ? node.router.connected(url) : null;
    const driver = atHand ?? (await node.router.open(url));
    judge.check("urlLeads", driver === null || !isDead, () => {
      return `${this.name} got through by a URL of ${link.name} that leads nowhere`;
    });
    const mustLead = before === url && link.url.value === url && link.revoked.value === false;
    judge.check("urlLeads", driver?.linkId === link.linkId || !mustLead, () => {
      return `${this.name} did not reach ${link.name} by its URL`;
    });
    return driver;
  }

  async #start(driver: LinkDriver): Promise<void> {
    const { node, clock, limits, open, random } = this.#world;
    const atHand = random.chance(0.5) ? node.router.manifestAtHand(driver) : null;
    const manifest = atHand ?? (await node.router.manifestOf(driver));
    if (node.settler.isFull) return this.#turnedAway("too many rows unwritten");
    const asked = readHostRequest(this.#body(), NO_HEADERS, limits);
    if (asked.type !== "call") throw new Error(`a call was read as ${asked.type}`);
    this.#driver = driver;
    this.#startedMs = clock.monotonic();
    this.startedPaused = this.link.paused.value === true;
    open.add(this);
    this.#world.starting = this;
    const routed = node.router.call(driver, manifest, asked, this.requestId, this);
    this.#world.starting = null;
    if (routed.type === "started") {
      this.callId = routed.callId;
      this.#judgePlaces(driver);
    } else {
      this.decided(routed.type);
      this.#ends += 1;
    }
    if (this.#hasLeft && this.callId !== null) driver.hostGone(this.callId);
  }

  #judgePlaces(driver: LinkDriver): void {
    const { judge, limits, open } = this.#world;
    const places = [...open].filter((call) => call.driver === driver).length;
    judge.check("eightInApp", places <= limits.callsInFlight, () => `${places} hold a place`);
  }

  #body(): string {
    const { kind, rpcId } = this.#asking;
    const name = kind === "unknown" ? "no_such_tool" : "work";
    const call = kind === "invalid" ? "no number" : this.#number;
    const params = { name, arguments: { call } };
    return JSON.stringify({ jsonrpc: "2.0", id: rpcId, method: "tools/call", params });
  }

  #turnedAway(why: string): void {
    this.#world.say(() => `${this.name}: turned away, ${why}`);
    this.#ends += 1;
  }
}
