import type { Acts, Part } from "./facts.ts";
import { make, makeButton, setText } from "./make.ts";
import { countdown, stateWords } from "./state-words.ts";
import type { StateAction } from "./state-words.ts";

/** Says where the app stands. Screen readers hear each new state, and not every second of a wait. */
export function statusPart(acts: Acts): Part {
  let action: StateAction | null = null;
  const dot = make("span", { part: "dot", class: "dot", "aria-hidden": "true" });
  const title = make("strong", { part: "state", class: "state", tabindex: "-1" });
  const detail = make("p", { part: "detail", class: "detail" });
  const live = make("div", { role: "status" }, title, detail);
  const wait = make("p", { part: "countdown", class: "detail countdown", role: "timer" });
  const button = makeButton("primary", () => {
    if (action !== null) acts.state(action);
  });
  const text = make("div", { class: "text" }, live, wait);
  const node = make("div", { part: "status", class: "status" }, dot, text, button);
  return {
    node,
    show: (facts) => {
      const said = stateWords(facts, facts.words);
      node.dataset["tone"] = said.tone;
      setText(title, said.title);
      setText(detail, said.detail);
      const left = countdown(facts.state, facts.now, facts.words);
      wait.hidden = left === null;
      setText(wait, left ?? "");
      action = said.action?.does ?? null;
      // A button that goes must not leave a person with a keyboard at the top of the page.
      if (action === null && button.matches(":focus")) title.focus();
      button.hidden = action === null;
      setText(button, said.action?.label ?? "");
    },
  };
}
