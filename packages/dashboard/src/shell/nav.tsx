import { Link, useParams } from "@tanstack/react-router";
import type { LinkProps } from "@tanstack/react-router";
import { Suspense, lazy } from "react";
import type { ReactNode } from "react";
import { useMe } from "../api/session.ts";
import { classes } from "../ui/classes.ts";
import { Brand } from "./brand.tsx";
import { lastProject } from "./last-project.ts";
import { MENU_BUTTON } from "./menu-button.ts";

const ProjectMenu = lazy(() => import("./project-menu.tsx"));
const AccountMenu = lazy(() => import("./account-menu.tsx"));

const PROJECT_PAGES = [
  { to: "/projects/$projectId/start", label: "Getting started" },
  { to: "/projects/$projectId/links", label: "Links" },
  { to: "/projects/$projectId/calls", label: "Calls" },
  { to: "/projects/$projectId/try", label: "Try a tool" },
  { to: "/projects/$projectId/usage", label: "Usage" },
  { to: "/projects/$projectId/settings", label: "Settings" },
] as const;

/** The ways to all pages: of the project, of the account, of the operator. */
export function Nav() {
  const { projectId = lastProject() ?? undefined } = useParams({ strict: false });
  const me = useMe();
  return (
    <div className="flex flex-col gap-5 p-3 md:min-h-full">
      <div className="hidden px-2 pt-1 md:block">
        <Link to="/projects" aria-label="Relay, all projects" className="inline-block">
          <Brand />
        </Link>
      </div>
      <nav aria-label="Pages" className="flex flex-1 flex-col gap-5">
        <div className="flex flex-col gap-1">
          <Suspense fallback={<MenuPlace />}>
            <ProjectMenu projectId={projectId ?? null} />
          </Suspense>
          {projectId === undefined ? null : (
            <List>
              {PROJECT_PAGES.map(({ to, label }) => (
                <Entry key={to} to={to} params={{ projectId }}>
                  {label}
                </Entry>
              ))}
            </List>
          )}
        </div>
        <Group name="Account">
          <Entry to="/projects" exact>
            Projects
          </Entry>
          <Entry to="/team">Team</Entry>
          <Entry to="/audit">Audit log</Entry>
          <Entry to="/account">Your sign-in</Entry>
        </Group>
        {me?.isOperator === true ? (
          <Group name="Operator">
            <Entry to="/operator" exact>
              Health
            </Entry>
            <Entry to="/operator/accounts">Accounts</Entry>
            <Entry to="/operator/projects">All projects</Entry>
            <Entry to="/operator/limits">Limits</Entry>
          </Group>
        ) : null}
      </nav>
      <Suspense fallback={<MenuPlace />}>
        <AccountMenu />
      </Suspense>
    </div>
  );
}

function MenuPlace() {
  return <span aria-hidden className={classes(MENU_BUTTON, "h-10")} />;
}

function Group({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <p className="px-2 text-xs font-medium text-quiet">{name}</p>
      <List>{children}</List>
    </div>
  );
}

function List({ children }: { readonly children: ReactNode }) {
  return <ul className="flex flex-col gap-px">{children}</ul>;
}

const ENTRY = "flex h-8 items-center rounded-md px-2 text-sm";

function Entry({
  exact = false,
  children,
  ...link
}: LinkProps & { readonly exact?: boolean; readonly children: ReactNode }) {
  return (
    <li>
      <Link
        {...link}
        activeOptions={{ exact, includeSearch: false }}
        className={ENTRY}
        activeProps={{ className: "bg-surface font-medium text-ink ring-1 ring-line" }}
        inactiveProps={{ className: "text-quiet hover:bg-hover hover:text-ink" }}
      >
        {children}
      </Link>
    </li>
  );
}
