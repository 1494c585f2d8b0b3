import { CLOSE_CODES, parseAppFrame } from "@relay/protocol";
import type { CloseCode } from "@relay/protocol";
import { readJson } from "../../packages/server/src/core/json.ts";
import type { AppSocket, LinkDriver } from "../../packages/server/src/relay/driver.ts";
import type { SocketClose } from "../../packages/server/src/store/store.ts";
import { answerTo } from "./app-answers.ts";
import type { SimCall } from "./sim-call.ts";
import type { SimLink } from "./sim-link.ts";
import type { World } from "./world.ts";

type Frame = { readonly type: string; readonly [field: string]: unknown };

/** One socket of an app, from its hello to the late news of its end. */
export class SimSocket implements AppSocket {
  readonly name: string;
  readonly link: SimLink;
  /** Calls that this socket was handed. */
  readonly got: SimCall[] = [];
  /** Calls that it was told to stop. */
  readonly stopped = new Set<SimCall>();
  /** Whether its buffer is full: the next frame drops it. */
  isFull = false;
  readonly #world: World;
  #state: "open" | "closing" | "closed" = "open";
  #isReady = false;
  #isGreeting = true;
  #wasClosedByRelay = false;
  #closedWith: SocketClose | null = null;
  #place: { readonly driver: LinkDriver; readonly epoch: number } | null = null;

  constructor(world: World, link: SimLink) {
    this.#world = world;
    this.link = link;
    this.name = `${link.name}#${link.sockets.length + 1}`;
    link.sockets.push(this);
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Whether Relay knows that it is over: it closed it, or was told that it is gone. */
  get isKnownOver(): boolean {
    return this.#wasClosedByRelay || (this.#state === "closed" && this.#place === null);
  }

  /** Whether its hello is still being judged. */
  get isGreeting(): boolean {
    return this.#isGreeting;
  }

  get place(): { readonly driver: LinkDriver; readonly epoch: number } | null {
    return this.#place;
  }

  /** Whether calls go here: it was greeted last, and neither side has ended it. */
  get isLive(): boolean {
    return this.#isReady && this.isOpen && this.link.newest === this;
  }

  /** Says hello and takes what comes of it, as an app's connection does. */
  async greet(text: string): Promise<void> {
    const { node, say } = this.#world;
    const reading = readJson(text);
    const parsed = parseAppFrame(reading.value);
    if (!("frame" in parsed) || parsed.frame.type !== "hello") throw new Error("no hello");
    say(() => `${this.name}: hello`);
    const peer = {
      end: this,
      origin: null,
      isOpen: () => this.isOpen,
      closeKnown: () => this.#closedWith,
    };
    const greeting = await node.handshake.greet(parsed.frame, text, peer);
    this.#isGreeting = false;
    say(() => `${this.name}: ${greeting.type === "refused" ? greeting.code : greeting.type}`);
    if (greeting.type === "refused" && this.isOpen) this.close(greeting.code);
    if (greeting.type !== "ready") return;
    this.#place = greeting;
    this.#leave();
  }

  send(frameText: string): boolean {
    if (!this.isOpen) return false;
    if (this.isFull) {
      this.drop();
      return false;
    }
    const frame = JSON.parse(frameText) as Frame;
    this.#world.say(() => `${this.name} < ${brief(frame, this.#world)}`);
    if (frame.type === "ready") this.#ready();
    if (frame.type === "call") this.#call(frame);
    if (frame.type === "cancel") this.#cancel(frame);
    return true;
  }

  ping(onPong: () => void): void {
    const { clock, random } = this.#world;
    clock.after(random.delay(), () => {
      if (this.isOpen) onPong();
    });
  }

  close(code: CloseCode): void {
    if (!this.isOpen) return;
    this.#world.say(() => `${this.name} < close ${code}`);
    this.#wasClosedByRelay = true;
    this.#end({ code, reason: CLOSE_CODES[code].reason });
  }

  /** The connection breaks; Relay hears of it now or much later. */
  drop(): void {
    if (!this.isOpen) return;
    this.#world.say(() => `${this.name}: drops`);
    this.#end({ code: 1006, reason: "" });
  }

  #end(close: SocketClose): void {
    const { clock, random } = this.#world;
    this.#state = "closing";
    clock.after(random.delay(), () => {
      this.#state = "closed";
      this.#closedWith = close;
      this.#leave();
    });
  }

  /** Tells Relay once that the socket is gone, as soon as it is both greeted and closed. */
  #leave(): void {
    const place = this.#place;
    if (place === null || this.#closedWith === null) return;
    this.#place = null;
    const { node, judge, say, open } = this.#world;
    const { newest } = this.link;
    const isOld = newest !== this && newest !== null && newest.isLive && newest.place !== null;
    const before = isOld ? this.#facts(newest) : "";
    say(() => `${this.name}: its end is known`);
    const openBefore = [...open];
    node.socketClosed(place.driver, place.epoch, this.#closedWith);
    if (!isOld) return;
    judge.check("oldEndNothing", before === this.#facts(newest), () => {
      return `the late end of ${this.name} changed ${newest.name}: ${before} became ${this.#facts(newest)}`;
    });
    const ended = openBefore.filter((call) => !open.has(call));
    judge.check("oldEndNothing", ended.length === 0, () => {
      return `the late end of ${this.name} ended ${ended.map((call) => call.name).join(", ")}`;
    });
  }

  #facts(live: SimSocket): string {
    const { node } = this.#world;
    const driver = node.registry.find(this.link.linkId);
    return `connected=${driver?.isConnected} calls=${driver?.inFlight} listed=${node.registry.connectedCount} open=${live.isOpen} owner=${driver?.link.ownerNode}`;
  }

  #ready(): void {
    const { judge } = this.#world;
    const { link } = this;
    this.#isReady = true;
    const left = link.sockets.filter((other) => other !== this && other.#isReady && other.isOpen);
    judge.check("newestOnly", left.length === 0, () => {
      return `${this.name} is ready while ${left.map((other) => other.name).join(", ")} is open`;
    });
    link.newest = this;
    judge.check("stopsCalls", !this.#mustBeSilent(), () => {
      return `${this.name} was greeted although its link is revoked or its project disabled`;
    });
  }

  #mustBeSilent(): boolean {
    return this.link.revoked.value === true || this.link.project.disabled.value === true;
  }

  #call(frame: Frame): void {
    const { judge, calls } = this.#world;
    const call = callOf(calls, frame);
    if (call === null) throw new Error("Relay sent a call that nobody made");
    judge.check("newestOnly", this.isLive, () => {
      return `${call.name} was sent to ${this.name}, which is not the live socket of ${this.link.name}`;
    });
    judge.check("newestOnly", call.link === this.link, () => {
      return `${call.name} of ${call.link.name} was sent to ${this.name}`;
    });
    judge.check("stopsCalls", !this.#mustBeSilent() && !call.startedPaused, () => {
      return `${call.name} was sent to ${this.name}, whose link is stopped`;
    });
    judge.check("endsOnce", call.sentTo === null, () => `${call.name} was sent twice`);
    call.handedTo(this);
    this.got.push(call);
    this.#think(call);
  }

  #cancel(frame: Frame): void {
    const call = this.got.find((each) => each.callId === frame["id"]);
    if (call === undefined) {
      this.#world.judge.check("cancelEnds", false, () => `${this.name} is to stop an unknown call`);
      return;
    }
    this.stopped.add(call);
  }

  /** Makes up the app's mind about a call: when it answers, how often, and whether at all. */
  #think(call: SimCall): void {
    const { clock, random } = this.#world;
    if (random.chance(0.12)) return;
    const times = random.chance(0.1) ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      const after = random.chance(0.02) ? random.whole(170_000, 190_000) : random.delay();
      if (random.chance(0.3)) clock.after(after / 2, () => this.progress(call));
      clock.after(after, () => this.answer(call));
    }
  }

  /** What the app says after its own connection broke never reaches Relay. */
  get #mayTalk(): boolean {
    return this.isOpen || this.#wasClosedByRelay;
  }

  /** Answers a call, this socket's or not, over or not, well or not, and judges what it did. */
  answer(call: SimCall): void {
    if (!this.#mayTalk || this.#place === null || call.callId === null) return;
    const { random, judge, say, open } = this.#world;
    const { driver, epoch } = this.#place;
    this.#world.answers += 1;
    const answer = answerTo(call.callId, `answer ${this.#world.answers} of ${this.name}`, random);
    const reading = readJson(answer.text);
    const parsed = parseAppFrame(reading.ok ? reading.value : (reading.value ?? null));
    if (!("frame" in parsed)) throw new Error("an answer without an id");
    const { frame } = parsed;
    if (frame.type !== "result" && frame.type !== "error") throw new Error("no answer");
    const may = call.sentTo === this && open.has(call) && this.isLive;
    say(() => `${this.name} > ${answer.how} ${call.name}${may ? "" : " (must change nothing)"}`);
    const before = new Set(open);
    if (may) call.expects = answer;
    const invalid = driver.answer(
      epoch,
      frame,
      answer.text,
      reading.ok ? null : reading.fault.message,
    );
    const ended = [...before].filter((each) => !open.has(each) && each !== (may ? call : null));
    const name = before.has(call) ? "liveAnswers" : "lateAnswerNothing";
    judge.check(name, ended.length === 0 && (may || invalid === null), () => {
      return `${this.name} answered ${call.name}, which ended ${ended.map((each) => each.name).join(", ")}`;
    });
    if (!may) return;
    judge.check("answerEnds", !open.has(call), () => {
      return `${this.name} answered ${call.name} with ${answer.how}, and the call goes on`;
    });
    judge.check("answerEnds", (invalid !== null) === (answer.how === "broken"), () => {
      return `an answer (${answer.how}) to ${call.name} was judged ${JSON.stringify(invalid)}`;
    });
  }

  /** Reports progress of a call, this socket's or not. */
  progress(call: SimCall): void {
    if (!this.#mayTalk || this.#place === null || call.callId === null) return;
    const { random, open } = this.#world;
    call.mayProgress = call.sentTo === this && open.has(call) && this.isLive;
    const progress = random.whole(0, 100);
    const frame = {
      type: "progress",
      id: call.callId,
      progress,
      total: null,
      message: null,
    } as const;
    this.#place.driver.progress(this.#place.epoch, frame, JSON.stringify(frame));
    call.mayProgress = false;
  }
}

/** The call a frame is about: its arguments name it. */
function callOf(calls: readonly SimCall[], frame: Frame): SimCall | null {
  const { call } = frame["arguments"] as { readonly call?: unknown };
  if (typeof call !== "number" || typeof frame["id"] !== "string") return null;
  const found = calls[call] ?? null;
  found?.named(frame["id"]);
  return found;
}

function brief(frame: Frame, world: World): string {
  const call = world.calls.find((each) => each.callId !== null && each.callId === frame["id"]);
  if (frame.type === "call") return `call ${JSON.stringify(frame["arguments"])}`;
  const parts = [call?.name ?? frame["id"], frame["code"], frame["message"]];
  const said = parts.filter((part) => part !== undefined && part !== null).map(String);
  return [frame.type, ...said].join(" ");
}
