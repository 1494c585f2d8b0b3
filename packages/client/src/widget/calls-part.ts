import { say } from "./facts.ts";
import type { Facts, Part } from "./facts.ts";
import type { LoggedCall } from "./call-log.ts";
import { make, makeHeading, setText } from "./make.ts";

const SHOWN_MAX = 8;
const DAY_MS = 86_400_000;

/** The last calls: which tool, how it went, when. */
export function callsPart(): Part {
  let shown = "";
  const heading = makeHeading("calls");
  const none = make("p", { part: "note", class: "note" });
  const list = make("ol", { part: "calls", class: "list" });
  const node = make(
    "div",
    { role: "group", "aria-labelledby": "calls", class: "section" },
    heading,
    none,
    list,
  );
  return {
    node,
    show: (facts) => {
      const { state, words } = facts;
      const calls = facts.calls.slice(0, SHOWN_MAX);
      node.hidden = state === null;
      setText(heading, words["calls.heading"]);
      none.hidden = calls.length > 0;
      setText(none, say(facts, state?.status === "standby" ? "calls.elsewhere" : "calls.none"));
      list.hidden = calls.length === 0;
      const rows = calls.map((call) => [call, timeOf(call, facts), words[`call.${call.status}`]]);
      const next = JSON.stringify(rows);
      if (next === shown) return;
      shown = next;
      list.replaceChildren(...calls.map((call) => callRow(call, facts)));
    },
  };
}

function callRow(call: LoggedCall, facts: Facts): HTMLElement {
  const { tool, status, at } = call;
  const word = facts.words[`call.${status}`];
  return make(
    "li",
    { part: "call", class: "call", "data-status": status },
    make("code", { class: "name" }, make("bdi", {}, tool)),
    make("span", { part: `call-status ${status}`, class: "outcome" }, word),
    make(
      "time",
      { part: "time", class: "time", datetime: new Date(at).toISOString() },
      make("bdi", {}, timeOf(call, facts)),
    ),
  );
}

function timeOf({ at }: LoggedCall, { now, language }: Facts): string {
  const isOld = now - at > DAY_MS;
  return new Date(at).toLocaleString(language, {
    ...(isOld && { day: "numeric", month: "short" }),
    hour: "numeric",
    minute: "2-digit",
    second: "2-digit",
  });
}
