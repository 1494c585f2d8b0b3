import { say } from "./facts.ts";
import type { Facts, Part } from "./facts.ts";
import { make, makeButton, setText } from "./make.ts";

export type Confirm = Part & {
  /** Asks, and does it after a yes. */
  readonly ask: (command: "rotate" | "revoke") => void;
};

/** Asks before what breaks something, and says what breaks. Escape and Cancel do nothing. */
export function confirmPart(onYes: (command: "rotate" | "revoke") => void): Confirm {
  let facts: Facts | null = null;
  let asked: "rotate" | "revoke" = "rotate";
  const question = make("div", {
    role: "heading",
    id: "question",
    class: "state",
  });
  const breaks = make("p", { id: "breaks", class: "detail" });
  const no = makeButton("secondary", () => node.close());
  const yes = makeButton("danger", () => {
    node.close();
    onYes(asked);
  });
  // The first button has the focus: the one that breaks nothing.
  const buttons = make("div", { class: "buttons" }, no, yes);
  const node = make(
    "dialog",
    {
      part: "dialog",
      role: "alertdialog",
      "aria-labelledby": "question",
      "aria-describedby": "breaks",
    },
    question,
    breaks,
    buttons,
  );

  const show = (next: Facts): void => {
    facts = next;
    // The link went away under the question.
    if (node.open && (next.isDead || next.state === null)) node.close();
    setText(question, say(next, `${asked}.question`));
    setText(breaks, say(next, `${asked}.breaks`));
    setText(no, next.words["confirm.no"]);
    setText(yes, say(next, `${asked}.yes`));
  };

  return {
    node,
    show,
    ask: (command) => {
      asked = command;
      if (facts !== null) show(facts);
      node.showModal();
    },
  };
}
