import { hostWays } from "../hosts.ts";
import type { HostWay } from "../hosts.ts";
import { reachOf } from "../reach.ts";
import { say } from "./facts.ts";
import type { Acts, Facts, Part } from "./facts.ts";
import { make, makeButton, makeHeading, setText } from "./make.ts";
import { maskUrl } from "./mask-url.ts";

/** How each host gets the URL. A link of the host's own scheme leads through nobody else. */
export function hostsPart(acts: Acts): Part {
  let rows: readonly HostRow[] = [];
  let made = "";
  const heading = makeHeading("hosts");
  const limits = make("p", { part: "note", class: "note warning" });
  const list = make("ul", { part: "hosts", class: "list" });
  const node = make(
    "div",
    { role: "group", "aria-labelledby": "hosts", class: "section" },
    heading,
    limits,
    list,
  );

  const remake = (appName: string, mcpUrl: string): void => {
    const ways = hostWays(appName, mcpUrl);
    rows = [
      ...ways.filter(({ reaches }) => reaches),
      ...ways.filter(({ reaches }) => !reaches),
    ].map((way) => hostRow(way, mcpUrl, acts));
    list.replaceChildren(...rows.map((row) => row.node));
  };

  return {
    node,
    show: (facts) => {
      const { mcpUrl, appName, words } = facts;
      node.hidden = mcpUrl === null;
      if (mcpUrl === null) return;
      const makes = JSON.stringify([appName, mcpUrl]);
      if (makes !== made) remake(appName, mcpUrl);
      made = makes;
      setText(heading, words["hosts.heading"]);
      const reach = reachOf(mcpUrl);
      limits.hidden = reach === "internet";
      setText(limits, reach === "internet" ? "" : say(facts, `hosts.${reach}`));
      for (const row of rows) row.show(facts);
    },
  };
}

type HostRow = Part & { readonly way: HostWay };

function hostRow(way: HostWay, mcpUrl: string, acts: Acts): HostRow {
  const { name, steps, command, link, reaches } = way;
  const title = make("span", { part: "host-name", class: "name" }, name);
  const badge = make("span", { part: "badge", class: "badge" });
  const open = make("a", { part: "button link", class: "button", rel: "noreferrer" });
  if (link !== null) open.href = link;
  const copy = makeButton("secondary", () => acts.copy(command ?? mcpUrl));
  const buttons = make("div", { class: "buttons" }, ...(link === null ? [] : [open]), copy);
  const how = make("p", { part: "steps", class: "note" }, make("bdi", {}, steps ?? ""));
  const shell = make("code", { part: "command", class: "field", dir: "ltr" });
  const head = make("div", { class: "row" }, make("div", { class: "text" }, title, badge), buttons);
  const node = make("li", { part: "host", class: "host", "data-host": way.id }, head);
  if (reaches && steps !== null) node.append(how);
  if (reaches && command !== null && link === null) node.append(shell);
  buttons.hidden = !reaches;
  badge.hidden = reaches;
  return {
    way,
    node,
    show: (facts: Facts) => {
      const { words, isShown } = facts;
      setText(badge, words["hosts.unreachable"]);
      setText(open, say(facts, "hosts.open", { host: name }));
      const label = command === null ? words["hosts.url"] : words["hosts.copy"];
      setText(copy, label);
      // Several buttons of the same name: each says which host it is for.
      copy.setAttribute("aria-label", `${label}: ${name}`);
      setText(shell, isShown ? (command ?? "") : maskUrl(command ?? "", mcpUrl));
    },
  };
}
