/** Every page behind the sign-in, and what its buttons open: the tests that go everywhere go here. */
import type { DeskPage } from "./desk.ts";
import { OPERATOR } from "./operator.ts";

export type Facts = {
  readonly projectId: string;
  /** A link with tools, sockets and calls. */
  readonly linkId: string;
  /** A trial link whose app is connected. */
  readonly trialLinkId: string;
};

export type Place = {
  readonly name: string;
  /** The router's own pattern of the address. */
  readonly route: string;
  readonly path: (facts: Facts) => string;
  /** Opens what a button opens; waits until it is there. */
  readonly open?: (view: DeskPage) => Promise<void>;
};

const PROJECT = "/projects/$projectId";

/** A page of a project; `search` may name a link as `LINK`. */
function ofProject(name: string, page: string, search = "", open?: Place["open"]): Place {
  return {
    name,
    route: `${PROJECT}/${page}`,
    path: ({ projectId, linkId, trialLinkId }) =>
      `/projects/${projectId}/${page}${search.replace("TRIAL", trialLinkId).replace("LINK", linkId)}`,
    ...(open === undefined ? {} : { open }),
  };
}

function outside(name: string, route: string, open?: Place["open"]): Place {
  return { name, route, path: () => route, ...(open === undefined ? {} : { open }) };
}

/** The pages by their addresses alone. */
export const PAGES: readonly Place[] = [
  outside("home", "/"),
  outside("projects", "/projects"),
  outside("team", "/team"),
  outside("audit", "/audit"),
  outside("account", "/account"),
  { name: "project", route: PROJECT, path: ({ projectId }) => `/projects/${projectId}` },
  {
    name: "project's home",
    route: `${PROJECT}/`,
    path: ({ projectId }) => `/projects/${projectId}/`,
  },
  ofProject("start", "start"),
  ofProject("links", "links"),
  ofProject("link", "links", "?link=LINK"),
  ofProject("link's tools", "links", "?link=LINK&tab=tools"),
  ofProject("link's sockets", "links", "?link=LINK&tab=sockets"),
  ofProject("link's calls", "links", "?link=LINK&tab=calls"),
  ofProject("link's hosts", "links", "?link=LINK&tab=host"),
  ofProject("calls", "calls", "?span=7d"),
  ofProject("live calls", "calls", "?view=live"),
  ofProject("try", "try", "?link=TRIAL"),
  ofProject("usage", "usage"),
  ofProject("settings", "settings"),
  outside("health", "/operator"),
  outside("accounts", "/operator/accounts"),
  outside("all projects", "/operator/projects"),
  outside("limits", "/operator/limits"),
  { name: "a page that is not there", route: PROJECT, path: () => "/projects/x/y/z" },
  { name: "no such project", route: `${PROJECT}/links`, path: () => "/projects/none/links" },
];

/** Presses the first button of this name and waits for what it opens. */
function opens(button: string | RegExp): (view: DeskPage) => Promise<void> {
  return async (view) => {
    await view.press(button);
    await view.page.getByRole("dialog").last().waitFor();
  };
}

function menu(button: string | RegExp): (view: DeskPage) => Promise<void> {
  return async (view) => {
    await view.page.getByRole("button", { name: button }).first().click();
    await view.page.getByRole("menu").waitFor();
  };
}

/** What is opened on the pages: dialogs, drawers, menus and tabs that no address names. */
export const OPENED: readonly Place[] = [
  outside("new project", "/projects", opens("New project")),
  outside("invite", "/team", opens("Invite…")),
  outside("invitation made", "/team", async (view) => {
    await opens("Invite…")(view);
    await view.press("Make the invitation");
    await view.sees("The invitation is made");
  }),
  outside("leave", "/team", opens("Leave…")),
  outside("audit entry", "/audit", opens("Details")),
  outside("own menu", "/projects", menu(OPERATOR.name)),
  outside("second step", "/account", async (view) => {
    await view.page.getByLabel("Your password", { exact: true }).fill(OPERATOR.password);
    await view.press("Set it up");
    await view.sees("Backup codes");
  }),
  ofProject("project menu", "links", "", menu(/^Project/)),
  ofProject("raw socket", "start", "", async (view) => {
    await view.page.getByRole("tab", { name: "Raw WebSocket" }).click();
  }),
  ofProject("rotate", "links", "?link=LINK", opens("Rotate…")),
  ofProject("revoke", "links", "?link=LINK", opens("Revoke…")),
  ofProject("link's call", "links", "?link=LINK&tab=calls", async (view) => {
    await view.page.getByRole("dialog").locator("tbody tr button").first().click();
    await view.sees("Request id");
  }),
  ofProject("call", "calls", "?span=30d", async (view) => {
    await view.page.locator("tbody tr button").last().click();
    await view.sees("Request id");
  }),
  ofProject("latency", "calls", "?span=7d", async (view) => {
    await view.page.getByRole("tab", { name: "Latency" }).click();
  }),
  ofProject("cap", "usage", "", opens("Change the cap")),
  ofProject("new key", "settings", "", opens("New key")),
  ofProject("key made", "settings", "", async (view) => {
    await opens("New key")(view);
    await view.press("Make the key");
    await view.sees("The key is made");
  }),
  ofProject("revoke key", "settings", "", opens("Revoke…")),
  ofProject("stop project", "settings", "", opens("Stop it…")),
  ofProject("delete project", "settings", "", opens("Delete it…")),
  outside("credit", "/operator/accounts", opens("Credit…")),
  outside("password link", "/operator/accounts", opens("Password link")),
  outside("terms", "/operator/projects", opens("Terms…")),
  outside("suspend", "/operator/projects", opens("Suspend…")),
];

/** Goes to a place and waits until what it shows has come. */
export async function goTo(view: DeskPage, url: string, place: Place, facts: Facts): Promise<void> {
  await view.page.goto(`${url}${place.path(facts)}`);
  await settle(view);
  await place.open?.(view);
  await settle(view);
}

/** Waits until nothing on the page is still being loaded. */
export async function settle(view: DeskPage): Promise<void> {
  await view.page.getByRole("heading").first().waitFor();
  await view.page.locator(".animate-pulse").first().waitFor({ state: "detached" });
}
