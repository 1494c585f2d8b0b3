import { callsPart } from "./calls-part.ts";
import { confirmPart } from "./confirm-part.ts";
import { controlsPart } from "./controls-part.ts";
import { say } from "./facts.ts";
import type { Acts, Facts, Part } from "./facts.ts";
import { hostsPart } from "./hosts-part.ts";
import { make, setText } from "./make.ts";
import { statusPart } from "./status-part.ts";
import { urlPart } from "./url-part.ts";

/** How long something that went well stays said; a failure stays until something else is done. */
const SAID_MS = 5_000;

export type Panel = Part & {
  /** Says how something that the person asked for went. */
  readonly tell: (text: string, isFailure?: boolean) => void;
  /** Selects the URL, for a person who must copy it by hand. */
  readonly selectUrl: () => void;
};

/** Makes the whole of the widget. It is made once; what changes is shown in it. */
export function openPanel(acts: Acts): Panel {
  const confirm = confirmPart(acts.command);
  const url = urlPart(acts);
  const said = make("p", { part: "said", class: "said", role: "status" });
  let silence: ReturnType<typeof setTimeout> | undefined;
  const parts: readonly Part[] = [
    statusPart(acts),
    url,
    hostsPart(acts),
    callsPart(),
    controlsPart(acts, confirm.ask),
    confirm,
  ];
  const node = make(
    "section",
    { part: "panel", class: "panel" },
    ...parts.map((part) => part.node),
    said,
  );
  return {
    node,
    show: (facts: Facts) => {
      node.setAttribute("aria-label", say(facts, "panel.label"));
      for (const part of parts) part.show(facts);
      for (const heading of node.querySelectorAll("[role=heading]")) {
        heading.setAttribute("aria-level", String(facts.headingLevel));
      }
    },
    tell: (text, isFailure = false) => {
      clearTimeout(silence);
      said.classList.toggle("failure", isFailure);
      // The same words again are news again.
      said.textContent = "";
      said.textContent = text;
      if (!isFailure) silence = setTimeout(() => setText(said, ""), SAID_MS);
    },
    selectUrl: () => {
      const code = url.node.querySelector("code");
      if (code !== null) getSelection()?.selectAllChildren(code);
    },
  };
}
