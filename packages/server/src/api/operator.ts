import { z } from "@hono/zod-openapi";
import { isUuid } from "@relay/protocol";
import type { AccountId, ProjectId } from "@relay/protocol";
import type { Project } from "../store/store.ts";
import type { Auth } from "./auth.ts";
import { notFound } from "./errors.ts";
import { OwnerShape, ownersOf } from "./operator-owners.ts";
import { MadeProject, createProject } from "./project-creation.ts";
import { json, pageOf, readInput, readQuery, route } from "./routes.ts";
import type { Api, ApiContext, ApiDeps } from "./routes.ts";
import {
  PageQuery,
  PriceSettings,
  ProjectSettings,
  ProjectShape,
  givenPrices,
  givenSettings,
  pageShape,
  projectView,
} from "./shapes.ts";

const NewProjectInput = ProjectSettings.partial({
  callsPerMinute: true,
  allowedOrigins: true,
  spendCapMicros: true,
})
  .extend(PriceSettings.partial().shape)
  .extend({ accountId: z.string().refine(isUuid, "must be an account id").optional() })
  .openapi("NewProject");

const ProjectPatch = ProjectSettings.extend(PriceSettings.shape)
  .extend({
    suspended: z.boolean({ error: "must be true or false" }),
  })
  .partial()
  .openapi("ProjectPatch");

const ListedProjectShape = ProjectShape.extend({
  account: z
    .object({ name: z.string(), owner: OwnerShape })
    .openapi({ description: "Whose the project is, as people know it." }),
}).openapi("ListedProject");

const PROJECTS = "/v1/operator/projects";
const PROJECT = `${PROJECTS}/{projectId}`;

/** The operator's own API: projects (SPEC 9); their keys are in `keys.ts`. */
export function addOperatorRoutes(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "post",
      path: PROJECTS,
      summary: "Makes a project; its first keys are shown this once",
      by: "operator",
      body: NewProjectInput,
      status: 201,
      answer: MadeProject,
      errors: ["LIMIT_REACHED"],
    },
    async (context) => {
      await auth.operator(context);
      const { accountId, ...settings } = await readInput(context, NewProjectInput);
      // Checked by the input's shape.
      const owner = (accountId as AccountId | undefined) ?? null;
      return json(context, 201, await createProject(deps, owner, settings));
    },
  );
  route(
    api,
    {
      method: "get",
      path: PROJECTS,
      summary: "Lists projects, the newest first",
      by: "operator",
      query: PageQuery,
      answer: pageShape(ListedProjectShape),
    },
    async (context) => {
      await auth.operator(context);
      const { limit, cursor } = readQuery(context, PageQuery);
      const page = pageOf(await deps.store.listProjects({ limit, cursor: cursor ?? null }));
      const ownerOf = await ownersOf(deps, page.items);
      const items = page.items.map((project) => ({
        ...projectView(project),
        account: { name: project.accountName, owner: ownerOf(project) },
      }));
      return json(context, 200, { items, nextCursor: page.nextCursor });
    },
  );
  route(
    api,
    {
      method: "get",
      path: PROJECT,
      summary: "Shows a project",
      by: "operator",
      answer: ProjectShape,
    },
    async (context) => {
      await auth.operator(context);
      return json(context, 200, projectView(await projectOfPath(context, deps)));
    },
  );
  route(
    api,
    {
      method: "patch",
      path: PROJECT,
      summary: "Changes a project",
      by: "operator",
      body: ProjectPatch,
      answer: ProjectShape,
    },
    async (context) => {
      await auth.operator(context);
      const { projectId } = await projectOfPath(context, deps);
      const { suspended, ...settings } = await readInput(context, ProjectPatch);
      const changes = {
        ...givenSettings(settings),
        ...givenPrices(settings),
        ...(suspended === undefined ? {} : { suspended }),
      };
      const project = await deps.node.changeProject(projectId, changes);
      if (project === null) throw notFound("project");
      return json(context, 200, projectView(project));
    },
  );
}

/** The project that the path names, whoever's it is: for the operator alone. */
export async function projectOfPath(context: ApiContext, deps: ApiDeps): Promise<Project> {
  const projectId = context.req.param("projectId") ?? "";
  const project = isUuid(projectId) ? await deps.store.getProject(projectId as ProjectId) : null;
  if (project === null) throw notFound("project");
  return project;
}
