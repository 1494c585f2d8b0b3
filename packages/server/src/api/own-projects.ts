import { z } from "@hono/zod-openapi";
import type { AccountId } from "@relay/protocol";
import type { Membership, Role, Sessions, Visitor } from "../accounts/port.ts";
import { may } from "../accounts/roles.ts";
import { ROLES } from "../store/account-store.ts";
import type { Project } from "../store/store.ts";
import { noteChange } from "./audit.ts";
import type { Auth } from "./auth.ts";
import { ApiError, notFound } from "./errors.ts";
import { MadeProject, createProject } from "./project-creation.ts";
import { json, readInput, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import type { SessionAuth } from "./session-auth.ts";
import { ProjectShape, projectView, textOf } from "./shapes.ts";

const PROJECTS = "/api/projects";

const OwnProject = ProjectShape.extend({ role: z.enum(ROLES) });

const NewProjectInput = z.object({
  name: textOf(64),
  accountId: z.string({ error: "must be an account id" }).optional(),
});

const Deletion = z.object({ name: z.string({ error: "must be the project's name" }) });

type OwnDeps = ApiDeps & { readonly sessions: Sessions };

/** The visitor's own projects: all of them, a new one, and one less. */
export function addOwnProjects(api: Api, deps: OwnDeps, auth: Auth, sessions: SessionAuth): void {
  route(
    api,
    {
      method: "get",
      path: PROJECTS,
      summary: "Lists the projects of the visitor's accounts, the newest first",
      by: "visitor",
      answer: z.object({ items: z.array(OwnProject) }),
    },
    async (context) => {
      const visitor = await sessions.visitor(context);
      return json(context, 200, { items: await projectsOf(visitor, deps) });
    },
  );
  route(
    api,
    {
      method: "post",
      path: PROJECTS,
      summary: "Makes a project; its first keys are shown this once",
      by: "visitor",
      body: NewProjectInput,
      status: 201,
      answer: MadeProject,
      errors: ["LIMIT_REACHED"],
    },
    async (context) => {
      const visitor = await sessions.visitor(context);
      const { name, accountId: named } = await readInput(context, NewProjectInput);
      const wanted = named ?? (await firstAccount(visitor, deps));
      const accountId = await sessions.accountById(context, wanted, "change");
      const made = await createProject(deps, accountId, { name });
      noteChange(context, { target: made.projectId });
      return json(context, 201, made);
    },
  );
  addDeletion(api, deps, auth);
}

function addDeletion(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "delete",
      path: `${PROJECTS}/{projectId}`,
      summary: "Deletes a project with its links, keys and calls, for good",
      by: "visitor",
      need: "delete",
      body: Deletion,
      answer: z.object({ projectId: z.string(), deleted: z.literal(true) }),
    },
    async (context) => {
      const project = await auth.developer(context);
      const { name } = await readInput(context, Deletion);
      if (name !== project.name) {
        throw new ApiError("VALIDATION_ERROR", "name: is not the name of the project");
      }
      const { projectId } = project;
      if (!(await deps.node.deleteProject(projectId))) throw notFound("project");
      noteChange(context, { before: { name }, after: null });
      return json(context, 200, { projectId, deleted: true });
    },
  );
}

async function projectsOf(visitor: Visitor, { sessions, store }: OwnDeps) {
  const memberships = await sessions.accountsOf(visitor.userId);
  const roles = new Map(memberships.map(({ accountId, role }) => [accountId, role]));
  const projects = await store.listProjectsOf([...roles.keys()]);
  return projects.flatMap((project) => ownView(project, roles));
}

function ownView(
  project: Project,
  roles: ReadonlyMap<AccountId, Role>,
): z.output<typeof OwnProject>[] {
  const role = roles.get(project.accountId);
  return role === undefined ? [] : [{ ...projectView(project), role }];
}

/** The first account in which the visitor may make a project. */
async function firstAccount(visitor: Visitor, { sessions }: OwnDeps): Promise<AccountId> {
  const memberships: readonly Membership[] = await sessions.accountsOf(visitor.userId);
  const found = memberships.find(({ role }) => may(role, "change"));
  if (found !== undefined) return found.accountId;
  throw new ApiError("FORBIDDEN", "You have no account in which you may make a project");
}
