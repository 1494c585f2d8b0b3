import { messageOf } from "../relay-error.ts";
import type { Relay } from "../relay.ts";
import { keepCalls } from "./call-log.ts";
import type { Facts, PersonCommand } from "./facts.ts";
import { openPanel } from "./panel.ts";
import type { Panel } from "./panel.ts";
import { isDead } from "./state-words.ts";
import type { StateAction } from "./state-words.ts";
import { widgetStyle } from "./style.ts";
import { WORDS, fill } from "./words.ts";
import type { WordKey, Words } from "./words.ts";

/** Where pages are rendered on a server there are no elements; there the class is only named. */
const Base: typeof HTMLElement =
  globalThis.HTMLElement ?? (Object as unknown as typeof HTMLElement);

const LEVEL = 2;
const SECOND_MS = 1000;

/**
 * `<relay-connect>`: shows a person where their app stands with Relay, gives the MCP URL to their AI
 * hosts, and lets them pause, rotate and revoke. `element.relay = createRelay({…})`. The attribute
 * `heading-level` (1 to 6, 2 by default) fits its headings into the page's.
 */
export class RelayConnect extends Base {
  static readonly observedAttributes = ["heading-level", "lang"];

  #relay: Relay | null = null;
  #words: Words = WORDS;
  #panel: Panel | null = null;
  #isShown = false;
  #isQrShown = false;
  #pending: PersonCommand | null = null;
  #endings: (() => void)[] = [];
  #clock: ReturnType<typeof setInterval> | undefined;

  /** The app's place on its link; null shows that there is none yet. */
  get relay(): Relay | null {
    return this.#relay;
  }

  set relay(relay: Relay | null) {
    if (relay === this.#relay) return;
    this.#relay = relay;
    this.#isShown = this.#isQrShown = false;
    this.#pending = null;
    if (relay !== null) keepCalls(relay);
    if (this.#panel !== null) this.#follow();
  }

  /** Texts in place of the English ones, by key; others stay. See `WORDS`. */
  get words(): Words {
    return this.#words;
  }

  set words(words: Partial<Words>) {
    this.#words = { ...WORDS, ...words };
    this.#show();
  }

  connectedCallback(): void {
    // What a page has set before this class was loaded lies on the element itself.
    for (const name of ["relay", "words"] as const) this.#takeUp(name);
    if (this.shadowRoot === null) {
      const root = this.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = [widgetStyle()];
      this.#panel = this.#open();
      root.append(this.#panel.node);
    }
    this.#follow();
  }

  disconnectedCallback(): void {
    this.#leave();
  }

  attributeChangedCallback(): void {
    this.#show();
  }

  #takeUp(name: "relay" | "words"): void {
    if (!Object.hasOwn(this, name)) return;
    const value: unknown = Reflect.get(this, name);
    Reflect.deleteProperty(this, name);
    Reflect.set(this, name, value);
  }

  #open(): Panel {
    return openPanel({
      state: (action) => this.#act(action),
      command: (command) => void this.#command(command),
      copy: (text) => void this.#copy(text),
      show: (isShown) => {
        this.#isShown = isShown;
        this.#show();
      },
      showQr: (isQrShown) => {
        this.#isQrShown = isQrShown;
        this.#show();
      },
    });
  }

  /** Listens to the relay for as long as the element is in a page. */
  #follow(): void {
    this.#leave();
    const relay = this.#relay;
    if (relay !== null && this.isConnected) {
      const show = (): void => this.#show();
      this.#endings = [
        relay.on("state", show),
        relay.on("url", show),
        relay.on("paused", show),
        relay.on("warnings", show),
        relay.on("call", show),
        relay.on("error", (error) => {
          if (error.code === "STORE") this.#fail(error);
        }),
      ];
    }
    this.#show();
  }

  #leave(): void {
    for (const end of this.#endings) end();
    this.#endings = [];
    clearInterval(this.#clock);
    this.#clock = undefined;
  }

  #show(): void {
    this.#panel?.show(this.#facts());
    this.#count();
  }

  /** Counts the seconds of a wait, and stops when it is over. */
  #count(): void {
    const isWaiting = this.#relay?.state.status === "waiting" && this.isConnected;
    if (!isWaiting) {
      clearInterval(this.#clock);
      this.#clock = undefined;
    } else this.#clock ??= setInterval(() => this.#show(), SECOND_MS);
  }

  #facts(): Facts {
    const relay = this.#relay;
    const state = relay?.state ?? null;
    const level = Number(this.getAttribute("heading-level") ?? LEVEL);
    return {
      state,
      isPaused: relay?.paused ?? false,
      appName: relay?.app.name ?? "",
      toolCount: relay?.tools.length ?? 0,
      mcpUrl: isDead(state) ? null : (relay?.mcpUrl ?? null),
      isDead: isDead(state),
      calls: relay === null ? [] : keepCalls(relay).calls,
      isShown: this.#isShown,
      isQrShown: this.#isQrShown,
      pending: this.#pending,
      headingLevel: level >= 1 && level <= 6 ? Math.floor(level) : LEVEL,
      language: this.closest<HTMLElement>("[lang]")?.lang || undefined,
      now: Date.now(),
      words: this.#words,
    };
  }

  #act(action: StateAction): void {
    const relay = this.#relay;
    this.#tell(null);
    if (action === "wake") relay?.wake();
    // What goes wrong is told by the state.
    else relay?.[action]().catch(() => undefined);
  }

  async #command(command: PersonCommand): Promise<void> {
    const relay = this.#relay;
    if (relay === null) return;
    this.#pending = command;
    this.#tell(null);
    this.#show();
    const failure = await relay[command]().then(
      () => null,
      (error: unknown) => error,
    );
    // Meanwhile the page may have given the element another relay.
    if (relay !== this.#relay) return;
    this.#pending = null;
    this.#show();
    if (failure !== null) this.#fail(failure);
    else this.#tell(DONE[command]);
  }

  /** Puts a text on the clipboard; where the page may not, the person does it. */
  async #copy(text: string): Promise<void> {
    const isCopied = await Promise.resolve()
      .then(() => navigator.clipboard.writeText(text))
      .then(
        () => true,
        () => false,
      );
    if (isCopied) return this.#tell("said.copied");
    this.#isShown = true;
    this.#show();
    this.#panel?.selectUrl();
    this.#tell("said.copy_failed", true);
  }

  #fail(error: unknown): void {
    this.#panel?.tell(fill(this.#words["said.failed"], { message: messageOf(error) }), true);
  }

  #tell(key: WordKey | null, isFailure = false): void {
    this.#panel?.tell(key === null ? "" : this.#words[key], isFailure);
  }
}

/** What is said when Relay has done it; that a link is revoked is told by the state. */
const DONE = {
  pause: "said.paused",
  resume: "said.resumed",
  rotate: "said.rotated",
  revoke: null,
} as const satisfies Record<PersonCommand, WordKey | null>;
