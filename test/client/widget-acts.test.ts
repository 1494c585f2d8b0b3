/** What a person does with `<relay-connect>` in Chromium: with the pointer, and with keys alone. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { loadPackage } from "./test-packages.ts";
import { NO_BROWSER, openWidgetBrowser, says, show, until } from "./widget/open-browser.ts";
import type { Locator, Tab, WidgetBrowser } from "./widget/open-browser.ts";

const skip = NO_BROWSER;

let browser: WidgetBrowser;
before(async () => {
  if (skip === false) browser = await openWidgetBrowser();
});
afterEach(() => {
  if (skip === false) assert.deepEqual(browser.takeFaults(), []);
});
after(async () => {
  if (skip === false) await browser.close();
});

const button = (tab: Tab, name: string): Locator => tab.getByRole("button", { name, exact: true });
const mcpUrl = async (tab: Tab): Promise<string> => String(await tab.evaluate("relay.mcpUrl"));
const clipboard = async (tab: Tab): Promise<string> =>
  String(await tab.evaluate("navigator.clipboard.readText()"));

/** The name of what has the focus. */
const FOCUSED = `(() => {
  const node = element.shadowRoot.activeElement ?? document.activeElement;
  return node.getAttribute("aria-label") ?? node.textContent.trim().slice(0, 40);
})()`;

test("the URL is nowhere in the widget until it is asked for", { skip }, async () => {
  await using tab = await browser.open();
  await show(tab, "online");
  const token = (await mcpUrl(tab)).split("/").at(-1) ?? "";
  assert.match(token, /^ut_/);
  const text = async (): Promise<string> =>
    String(await tab.evaluate("element.shadowRoot.textContent"));
  assert.ok(!(await text()).includes(token));
  await button(tab, "Show").click();
  assert.equal(await tab.locator("[part=url]").textContent(), await mcpUrl(tab));
  // The command for Claude Code has it too.
  assert.ok((await tab.locator("[part=command]").textContent())?.includes(token));
  await button(tab, "Hide").click();
  assert.ok(!(await text()).includes(token));
});

test("the URL and a host's command go to the clipboard, whole", { skip }, async () => {
  await using tab = await browser.open({}, ["clipboard-read", "clipboard-write"]);
  await show(tab, "online");
  const url = await mcpUrl(tab);
  await button(tab, "Copy URL").click();
  await says(tab, "Copied.");
  assert.equal(await clipboard(tab), url);
  await button(tab, "Copy command: Claude Code").click();
  await until(tab, `navigator.clipboard.readText().then((text) => text.startsWith("claude"))`);
  assert.equal(await clipboard(tab), `claude mcp add --transport http notes ${url}`);
});

test("where the page may not copy, the URL is shown and selected", { skip }, async () => {
  await using tab = await browser.open();
  await tab.evaluate(`Object.defineProperty(navigator, "clipboard", { value: undefined })`);
  await show(tab, "online");
  await button(tab, "Copy URL").click();
  await says(tab, "This page may not copy");
  assert.equal(await tab.locator("[part=url]").textContent(), await mcpUrl(tab));
  assert.equal(await tab.evaluate("String(getSelection())"), await mcpUrl(tab));
});

test("links lead to the hosts' own schemes, and nowhere else", { skip }, async () => {
  await using tab = await browser.open();
  await show(tab, "online");
  const links = (await tab.evaluate(
    `[...element.shadowRoot.querySelectorAll("a")].map(({ href }) => href)`,
  )) as readonly string[];
  assert.deepEqual(
    links.map((link) => new URL(link).protocol),
    ["cursor:", "vscode:"],
  );
  const config = new URL(links[0] ?? "").searchParams.get("config");
  assert.deepEqual(JSON.parse(atob(config ?? "")), { url: await mcpUrl(tab) });
});

test("the QR code is the URL, also after a new one", { skip }, async () => {
  await using tab = await browser.open();
  await show(tab, "online");
  await button(tab, "QR code").click();
  const first = await mcpUrl(tab);
  assert.equal(await scan(tab), first);
  await tab.evaluate("relay.rotate()");
  await until(tab, `relay.mcpUrl !== ${JSON.stringify(first)}`);
  assert.equal(await scan(tab), await mcpUrl(tab));
  await button(tab, "QR code").click();
  assert.equal(await tab.getByRole("img").isVisible(), false);
});

/** Reads the QR code from its pixels, as a phone does. */
async function scan(tab: Tab): Promise<string | undefined> {
  const { data, width } = (await tab.evaluate(`(() => {
    const svg = element.shadowRoot.querySelector("svg");
    const { x, y, width: side } = svg.viewBox.baseVal;
    const width = side * 4;
    const canvas = Object.assign(document.createElement("canvas"), { width, height: width });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.fillStyle = getComputedStyle(svg).backgroundColor;
    context.fillRect(0, 0, width, width);
    context.scale(4, 4);
    context.translate(-x, -y);
    context.fillStyle = getComputedStyle(svg).fill;
    context.fill(new Path2D(svg.querySelector("path").getAttribute("d")));
    return { width, data: [...context.getImageData(0, 0, width, width).data] };
  })()`)) as { readonly data: readonly number[]; readonly width: number };
  const decode = loadPackage("jsqr") as (
    pixels: Uint8ClampedArray,
    width: number,
    height: number,
  ) => { readonly data: string } | null;
  return decode(Uint8ClampedArray.from(data), width, width)?.data;
}

test("pause and resume are one press, and are shown at once", { skip }, async () => {
  await using tab = await browser.open();
  await show(tab, "online");
  await button(tab, "Pause").click();
  await says(tab, "are told that it is paused");
  assert.equal(await tab.evaluate("fake.link.paused"), true);
  await button(tab, "Resume").click();
  await says(tab, "Tools: 4");
  assert.equal(await tab.evaluate("fake.link.paused"), false);
});

test(
  "a new URL comes after a question that says what breaks, and only after a yes",
  { skip },
  async () => {
    await using tab = await browser.open();
    await show(tab, "online");
    const old = await mcpUrl(tab);
    const question = tab.getByRole("alertdialog", { name: "Get a new URL?" });
    await button(tab, "Get a new URL…").click();
    assert.match(String(await question.textContent()), /stops working at once.*loses Notes/);
    await button(tab, "Cancel").click();
    assert.equal(await question.isVisible(), false);
    assert.equal(await mcpUrl(tab), old);
    await button(tab, "Get a new URL…").click();
    await button(tab, "Get a new URL").click();
    await says(tab, "The URL is new.");
    assert.notEqual(await mcpUrl(tab), old);
  },
);

test("a link ends after a question, and a new one is a press away", { skip }, async () => {
  await using tab = await browser.open();
  await show(tab, "online");
  const old = await mcpUrl(tab);
  await button(tab, "End the link…").click();
  await button(tab, "End the link").click();
  await says(tab, "The link has ended");
  for (const gone of ["Copy URL", "Pause", "End the link…"]) {
    assert.equal(await button(tab, gone).isVisible(), false, gone);
  }
  assert.equal(await tab.locator("[part=hosts]").isVisible(), false);
  await button(tab, "Make a new link").click();
  await says(tab, "Tools: 4");
  assert.notEqual(await mcpUrl(tab), old);
});

test("what Relay refuses is said, and can be tried again", { skip }, async () => {
  await using tab = await browser.open();
  await show(tab, "online");
  await tab.evaluate(`(() => {
    fake.link.pause = (id) => {
      throw new Error("not now");
    };
    relay.pause = () => Promise.reject(new Error("too many commands this minute"));
  })()`);
  await button(tab, "Pause").click();
  await says(tab, "That did not work: too many commands this minute");
  assert.equal(await button(tab, "Pause").getAttribute("aria-disabled"), null);
});

test(
  "without a connection the controls are off and say so; the focus stays",
  { skip },
  async () => {
    await using tab = await browser.open();
    await show(tab, "online");
    await button(tab, "Pause").focus();
    await tab.evaluate("fake.isDown = true; fake.drop()");
    await says(tab, "Works while connected.");
    assert.equal(await tab.evaluate(FOCUSED), "Pause");
    assert.equal(await button(tab, "Pause").getAttribute("aria-disabled"), "true");
    await tab.keyboard.press("Enter");
    await button(tab, "End the link…").focus();
    await tab.keyboard.press("Enter");
    assert.equal(await tab.getByRole("alertdialog").isVisible(), false);
  },
);

test(
  "a wait is counted down, and cut short by a press that leaves the focus in the widget",
  { skip },
  async () => {
    await using tab = await browser.open();
    await show(tab, "waiting");
    // Long enough into the backoff that the next try is seconds away.
    await until(tab, `relay.state.status === "waiting" && relay.state.waitMs > 3000`);
    const seconds = (): Promise<number> =>
      tab.evaluate(
        `Number(/\\d+/.exec(element.shadowRoot.querySelector("[part=countdown]").textContent))`,
      ) as Promise<number>;
    const first = await seconds();
    assert.ok(first >= 1 && first <= 8, String(first));
    await until(
      tab,
      `Number(/\\d+/.exec(element.shadowRoot.querySelector("[part=countdown]").textContent)) < ${first}`,
    );
    await tab.evaluate("fake.isDown = false");
    await button(tab, "Try now").focus();
    await tab.keyboard.press("Enter");
    await says(tab, "Tools: 4");
    assert.equal(await tab.evaluate(FOCUSED), "Connected");
  },
);

test("a screen reader hears a new state once, and no second of a wait", { skip }, async () => {
  await using tab = await browser.open();
  await show(tab, "online");
  await tab.evaluate(`(() => {
    window.heard = [];
    const live = element.shadowRoot.querySelector("[part=status] [role=status]");
    new MutationObserver(() => heard.push(live.innerText)).observe(live, {
      subtree: true,
      childList: true,
      characterData: true,
    });
    fake.suspend();
  })()`);
  await until(tab, "relay.state.attempt >= 2");
  const heard = (await tab.evaluate("heard")) as readonly string[];
  // Waiting, trying, waiting: each once.
  assert.ok(heard.length >= 2 && heard.length <= 4, heard.join(" | "));
  for (const text of heard) assert.doesNotMatch(text, /\d+ s/);
});

test("a tab that stands by takes over when it is asked to", { skip }, async () => {
  await using tab = await browser.open();
  await show(tab, "standby");
  await button(tab, "Connect here").click();
  await says(tab, "Tools: 4");
  assert.equal(await tab.evaluate("relay.state.status"), "online");
});

test(
  "everything is reached and done with keys alone, in the order that it is read",
  { skip },
  async () => {
    await using tab = await browser.open();
    await show(tab, "online");
    const order: unknown[] = [];
    for (let presses = 0; presses < 14; presses += 1) {
      await tab.keyboard.press("Tab");
      order.push(await tab.evaluate(FOCUSED));
    }
    assert.deepEqual(order, [
      "Copy URL",
      "Show",
      "QR code",
      "Copy URL: Claude",
      "Copy command: Claude Code",
      "Copy URL: ChatGPT",
      "Open Cursor",
      "Copy URL: Cursor",
      "Open VS Code",
      "Copy command: VS Code",
      "Pause",
      "Get a new URL…",
      "End the link…",
      order[13],
    ]);
    await button(tab, "End the link…").focus();
    await tab.keyboard.press("Enter");
    // The button that breaks nothing has the focus; Escape leaves, and the focus goes back.
    assert.equal(await tab.evaluate(FOCUSED), "Cancel");
    await tab.keyboard.press("Tab");
    assert.equal(await tab.evaluate(FOCUSED), "End the link");
    await tab.keyboard.press("Escape");
    assert.equal(await tab.evaluate(FOCUSED), "End the link…");
    assert.equal(await tab.evaluate("fake.link.revoked"), false);
  },
);

test(
  "the last calls are shown as they come, newest first, and eight at most",
  { skip },
  async () => {
    await using tab = await browser.open();
    await show(tab, "calls");
    const rows = async (): Promise<readonly string[]> =>
      (await tab.evaluate(
        `[...element.shadowRoot.querySelectorAll("[part=call]")].map((row) =>
        row.querySelector("code").textContent + " " + row.querySelector(".outcome").textContent)`,
      )) as readonly string[];
    assert.deepEqual(await rows(), [
      "search_notes done",
      "export_all running",
      "delete_note denied",
      "add_note failed",
      "search_notes done",
    ]);
    await tab.evaluate("fake.drop()");
    await says(tab, "connection lost");
    await says(tab, "Tools: 4");
    await tab.evaluate(`(async () => {
    for (let at = 0; at < 25; at += 1) await fake.link.call("search_notes", { text: "secret" });
  })()`);
    assert.equal((await rows()).length, 8);
    assert.ok(!String(await tab.evaluate("element.shadowRoot.textContent")).includes("secret"));
  },
);

test(
  "an element that comes late, leaves and returns knows the calls and follows the state",
  { skip },
  async () => {
    await using tab = await browser.open();
    await show(tab, "calls");
    await tab.evaluate("window.parent_ = element.parentNode; element.remove()");
    await tab.evaluate("relay.pause()");
    await tab.evaluate(`fake.link.resume(); void fake.link.call("add_note")`);
    await until(tab, "!relay.paused");
    await tab.evaluate("relay.pause()");
    await tab.evaluate("parent_.append(element)");
    await says(tab, "are told that it is paused");
    assert.equal(
      await tab.evaluate(`element.shadowRoot.querySelectorAll("[part=call]").length`),
      6,
    );
  },
);

test("what a page sets before the element is defined is taken up", { skip }, async () => {
  await using tab = await browser.open();
  const found = await tab.evaluate(`(() => {
    const early = document.createElement("relay-connect");
    // As on an element that no class stood behind yet.
    for (const [key, value] of Object.entries({
      relay: makeRelay(),
      words: { "state.idle": "Aus" },
    })) {
      Object.defineProperty(early, key, { value, configurable: true, writable: true });
    }
    document.body.append(early);
    return early.shadowRoot.querySelector("[part=state]").textContent;
  })()`);
  assert.equal(found, "Aus");
});

test("its headings are of the level that the page asks for", { skip }, async () => {
  await using tab = await browser.open();
  await show(tab, "online");
  const levels = `[...new Set([...element.shadowRoot.querySelectorAll("[role=heading]")].map((node) => node.getAttribute("aria-level")))]`;
  assert.deepEqual(await tab.evaluate(levels), ["2"]);
  await tab.evaluate(`element.setAttribute("heading-level", "4")`);
  assert.deepEqual(await tab.evaluate(levels), ["4"]);
  await tab.evaluate(`element.setAttribute("heading-level", "nonsense")`);
  assert.deepEqual(await tab.evaluate(levels), ["2"]);
});

test("another relay in the same element hides the URL again", { skip }, async () => {
  await using tab = await browser.open();
  await show(tab, "online");
  await button(tab, "Show").click();
  await tab.evaluate(`(async () => {
    const other = makeRelay();
    await other.start();
    element.relay = window.relay = other;
  })()`);
  assert.ok(!String(await tab.evaluate("element.shadowRoot.textContent")).includes("ut_"));
  await tab.evaluate("element.relay = null");
  assert.equal(await tab.locator("[part=state]").textContent(), "Not set up");
});
