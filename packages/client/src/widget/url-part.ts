import { say } from "./facts.ts";
import type { Acts, Facts, Part } from "./facts.ts";
import { make, makeButton, makeHeading, setText } from "./make.ts";
import { maskUrl } from "./mask-url.ts";
import { qrImage } from "./qr-image.ts";

/** The MCP URL: hidden until it is asked for, to copy, and as a QR code. */
export function urlPart(acts: Acts): Part {
  let facts: Facts | null = null;
  let drawn: string | null = null;
  const heading = makeHeading("url");
  const code = make("code", { part: "url", class: "field", dir: "ltr" });
  const note = make("p", { part: "note", class: "note" });
  const copy = makeButton("secondary", () => facts?.mcpUrl && acts.copy(facts.mcpUrl));
  const show = makeButton("secondary", () => facts && acts.show(!facts.isShown));
  const qr = makeButton("secondary", () => facts && acts.showQr(!facts.isQrShown));
  qr.setAttribute("aria-controls", "qr");
  const buttons = make("div", { class: "buttons" }, copy, show, qr);
  const picture = make("div", { id: "qr", part: "qr", class: "qr" });
  const node = make(
    "div",
    { role: "group", "aria-labelledby": "url", class: "section" },
    heading,
    code,
    buttons,
    picture,
    note,
  );

  const draw = (mcpUrl: string | null, label: string): void => {
    if (mcpUrl === drawn) return picture.firstElementChild?.setAttribute("aria-label", label);
    drawn = mcpUrl;
    const image = mcpUrl === null ? null : qrImage(mcpUrl, label);
    picture.replaceChildren(...(image === null ? [] : [image]));
  };

  return {
    node,
    show: (next) => {
      facts = next;
      const { mcpUrl, isShown, isQrShown, words } = next;
      node.hidden = next.isDead || next.state === null;
      for (const part of [code, buttons]) part.hidden = mcpUrl === null;
      setText(heading, words["url.heading"]);
      setText(note, say(next, mcpUrl === null ? "url.none" : "url.note"));
      setText(code, mcpUrl === null ? "" : isShown ? mcpUrl : maskUrl(mcpUrl, mcpUrl));
      setText(copy, words["url.copy"]);
      setText(show, words[isShown ? "url.hide" : "url.show"]);
      setText(qr, words["url.qr"]);
      qr.setAttribute("aria-expanded", String(isQrShown));
      picture.hidden = mcpUrl === null || !isQrShown;
      draw(isQrShown ? mcpUrl : null, words["url.qr.label"]);
    },
  };
}
