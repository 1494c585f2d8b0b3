import {
  Outlet,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { BASE_PATH } from "./base-path.ts";
import { lastProject } from "./shell/last-project.ts";
import { NotFound, PageFailure } from "./shell/page-failure.tsx";
import { ProjectLayout } from "./shell/project-layout.tsx";
import { SignedIn } from "./shell/signed-in.tsx";

/** The search values of an address, those that are texts; others are nobody's. */
function texts<const Names extends readonly string[]>(...names: Names) {
  return (
    search: Readonly<Record<string, unknown>>,
  ): { readonly [Name in Names[number]]?: string | undefined } => {
    const given = names.flatMap((name) => {
      const value = search[name];
      return typeof value === "string" && value !== "" ? [[name, value]] : [];
    });
    // Made of the very names.
    return Object.fromEntries(given) as { readonly [Name in Names[number]]?: string | undefined };
  };
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    const projectId = lastProject();
    if (projectId === null) throw redirect({ to: "/projects", replace: true });
    throw redirect({ to: "/projects/$projectId/start", params: { projectId }, replace: true });
  },
});

const entry = () => import("./pages/entry/entry-pages.tsx");
const setup = createRoute({
  getParentRoute: () => root,
  path: "/setup",
  component: lazyRouteComponent(entry, "SetupPage"),
});
const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: texts("next", "error"),
  component: lazyRouteComponent(entry, "SignInPage"),
});
const signUp = createRoute({
  getParentRoute: () => root,
  path: "/sign-up",
  component: lazyRouteComponent(entry, "SignUpPage"),
});
const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitation",
  component: lazyRouteComponent(entry, "InvitationPage"),
});
const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: "/forgot-password",
  component: lazyRouteComponent(entry, "ForgotPasswordPage"),
});
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: "/reset-password",
  validateSearch: texts("token", "error"),
  component: lazyRouteComponent(entry, "ResetPasswordPage"),
});

const app = createRoute({ getParentRoute: () => root, id: "app", component: SignedIn });

const projects = createRoute({
  getParentRoute: () => app,
  path: "/projects",
  component: lazyRouteComponent(() => import("./pages/projects-page.tsx"), "ProjectsPage"),
});
const team = createRoute({
  getParentRoute: () => app,
  path: "/team",
  validateSearch: texts("account"),
  component: lazyRouteComponent(() => import("./pages/team-page.tsx"), "TeamPage"),
});
const audit = createRoute({
  getParentRoute: () => app,
  path: "/audit",
  validateSearch: texts("account"),
  component: lazyRouteComponent(() => import("./pages/audit-page.tsx"), "AuditPage"),
});
const account = createRoute({
  getParentRoute: () => app,
  path: "/account",
  validateSearch: texts("github", "error"),
  component: lazyRouteComponent(() => import("./pages/account/account-page.tsx"), "AccountPage"),
});

const project = createRoute({
  getParentRoute: () => app,
  path: "/projects/$projectId",
  component: ProjectLayout,
});
const projectHome = createRoute({
  getParentRoute: () => project,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/projects/$projectId/start", params, replace: true });
  },
});
const start = createRoute({
  getParentRoute: () => project,
  path: "/start",
  component: lazyRouteComponent(() => import("./pages/start/start-page.tsx"), "StartPage"),
});
const links = createRoute({
  getParentRoute: () => project,
  path: "/links",
  validateSearch: texts("label", "state", "trial", "sort", "link", "tab"),
  component: lazyRouteComponent(() => import("./pages/links/links-page.tsx"), "LinksPage"),
});
const calls = createRoute({
  getParentRoute: () => project,
  path: "/calls",
  validateSearch: texts("outcome", "counted", "linkId", "tool", "client", "span", "view"),
  component: lazyRouteComponent(() => import("./pages/calls/calls-page.tsx"), "CallsPage"),
});
const tryTool = createRoute({
  getParentRoute: () => project,
  path: "/try",
  validateSearch: texts("link", "tool"),
  component: lazyRouteComponent(() => import("./pages/try/try-page.tsx"), "TryPage"),
});
const usage = createRoute({
  getParentRoute: () => project,
  path: "/usage",
  validateSearch: texts("month"),
  component: lazyRouteComponent(() => import("./pages/usage/usage-page.tsx"), "UsagePage"),
});
const settings = createRoute({
  getParentRoute: () => project,
  path: "/settings",
  component: lazyRouteComponent(() => import("./pages/settings/settings-page.tsx"), "SettingsPage"),
});

const operatorPages = () => import("./pages/operator/operator-pages.tsx");
const operator = createRoute({
  getParentRoute: () => app,
  path: "/operator",
  component: lazyRouteComponent(operatorPages, "HealthPage"),
});
const operatorAccounts = createRoute({
  getParentRoute: () => app,
  path: "/operator/accounts",
  component: lazyRouteComponent(operatorPages, "AccountsPage"),
});
const operatorProjects = createRoute({
  getParentRoute: () => app,
  path: "/operator/projects",
  component: lazyRouteComponent(operatorPages, "AllProjectsPage"),
});
const operatorLimits = createRoute({
  getParentRoute: () => app,
  path: "/operator/limits",
  component: lazyRouteComponent(operatorPages, "LimitsPage"),
});

const routeTree = root.addChildren([
  home,
  setup,
  signIn,
  signUp,
  invitation,
  forgotPassword,
  resetPassword,
  app.addChildren([
    projects,
    team,
    audit,
    account,
    project.addChildren([projectHome, start, links, calls, tryTool, usage, settings]),
    operator,
    operatorAccounts,
    operatorProjects,
    operatorLimits,
  ]),
]);

/** Every page with its address. Filters are plain words in the query string, fit to be shared. */
export function createAppRouter() {
  return createRouter({
    routeTree,
    basepath: BASE_PATH,
    defaultErrorComponent: PageFailure,
    defaultPreload: "intent",
    scrollRestoration: true,
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const text = new URLSearchParams(
        Object.entries(search).flatMap(([name, value]) =>
          typeof value === "string" && value !== "" ? [[name, value]] : [],
        ),
      ).toString();
      return text === "" ? "" : `?${text}`;
    },
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
