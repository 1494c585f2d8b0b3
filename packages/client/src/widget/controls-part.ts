import type { Acts, Facts, Part, PersonCommand } from "./facts.ts";
import { make, makeButton, makeHeading, setOff, setText } from "./make.ts";

/** What the person may do with the link. `ask` comes before what breaks something. */
export function controlsPart(acts: Acts, ask: (command: "rotate" | "revoke") => void): Part {
  let facts: Facts | null = null;
  const heading = makeHeading("control");
  const pause = makeButton("secondary", () => acts.command(facts?.isPaused ? "resume" : "pause"));
  const rotate = makeButton("secondary", () => ask("rotate"));
  const revoke = makeButton("danger", () => ask("revoke"));
  const note = make("p", { part: "note", class: "note", id: "control-note" });
  const node = make(
    "div",
    { role: "group", "aria-labelledby": "control", class: "section" },
    heading,
    make("div", { class: "buttons" }, pause, rotate, revoke),
    note,
  );
  return {
    node,
    show: (next) => {
      facts = next;
      const { state, isDead, mcpUrl, pending, isPaused, words } = next;
      node.hidden = isDead || mcpUrl === null;
      const isOnline = state?.status === "online";
      note.hidden = isOnline;
      setText(heading, words["control.heading"]);
      setText(note, words["control.offline"]);
      setText(pause, words[isPaused ? "control.resume" : "control.pause"]);
      setText(rotate, words["control.rotate"]);
      setText(revoke, words["control.revoke"]);
      const buttons: readonly (readonly [HTMLButtonElement, readonly PersonCommand[]])[] = [
        [pause, ["pause", "resume"]],
        [rotate, ["rotate"]],
        [revoke, ["revoke"]],
      ];
      for (const [button, commands] of buttons) {
        setOff(button, !isOnline || pending !== null);
        button.setAttribute("aria-busy", String(pending !== null && commands.includes(pending)));
        if (isOnline) button.removeAttribute("aria-describedby");
        else button.setAttribute("aria-describedby", "control-note");
      }
    },
  };
}
