import { z } from "@hono/zod-openapi";
import { isUuid } from "@relay/protocol";
import type { AccountId, KeyId, ProjectId } from "@relay/protocol";
import { hashToken, mintKeyId, mintProjectId, mintToken } from "../ids.ts";
import type { KeyKind, NewKey, Project } from "../store/store.ts";
import type { Auth } from "./auth.ts";
import { ApiError, notFound } from "./errors.ts";
import { json, pageOf, readInput, readQuery, route } from "./routes.ts";
import type { Api, ApiContext, ApiDeps } from "./routes.ts";
import {
  KeyShape,
  PageQuery,
  ProjectSettings,
  ProjectShape,
  givenSettings,
  keyView,
  pageShape,
  projectView,
} from "./shapes.ts";

/** What a new project has until billing is set up; of no effect in mode `off`. */
const NEW_PROJECT_MONEY = {
  freeCallsPerMonth: 1_000,
  priceMicrosPerCall: 1_000,
  spendCapMicros: 10_000_000,
} as const;

const NewProjectInput = ProjectSettings.partial({ callsPerMinute: true, allowedOrigins: true })
  .extend({ accountId: z.string().refine(isUuid, "must be an account id").optional() })
  .openapi("NewProject");

const ProjectPatch = ProjectSettings.extend({
  suspended: z.boolean({ error: "must be true or false" }),
})
  .partial()
  .openapi("ProjectPatch");

const NewKeyInput = z
  .object({
    kind: z.enum(["pk", "sk"], { error: "must be pk or sk" }),
    expiresAt: z.iso
      .datetime({ error: "must be an ISO 8601 time in UTC" })
      .transform((text) => Date.parse(text))
      .nullish(),
  })
  .openapi("NewKey");

const PROJECTS = "/v1/operator/projects";
const PROJECT = `${PROJECTS}/{projectId}`;

const MadeProject = ProjectShape.extend({
  publishableKey: z.string(),
  secretKey: z.string(),
}).openapi("MadeProject");
const MadeKey = KeyShape.extend({ key: z.string() }).openapi("MadeKey");

/** The operator's own API: projects and their keys (SPEC 9). */
export function addOperatorRoutes(api: Api, deps: ApiDeps, auth: Auth): void {
  addProjects(api, deps, auth);
  addKeys(api, deps, auth);
}

function addProjects(api: Api, deps: ApiDeps, auth: Auth): void {
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
      auth.operator(context);
      return createProject(context, deps, await readInput(context, NewProjectInput));
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
      answer: pageShape(ProjectShape),
    },
    async (context) => {
      auth.operator(context);
      const { limit, cursor } = readQuery(context, PageQuery);
      const page = pageOf(await deps.store.listProjects({ limit, cursor: cursor ?? null }));
      const items = page.items.map(projectView);
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
      auth.operator(context);
      return json(context, 200, projectView(await projectOf(context, deps)));
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
      auth.operator(context);
      const { projectId } = await projectOf(context, deps);
      const { suspended, ...settings } = await readInput(context, ProjectPatch);
      const changes = {
        ...givenSettings(settings),
        ...(suspended === undefined ? {} : { suspended }),
      };
      const project = await deps.node.changeProject(projectId, changes);
      if (project === null) throw notFound("project");
      return json(context, 200, projectView(project));
    },
  );
}

function addKeys(api: Api, deps: ApiDeps, auth: Auth): void {
  const keys = `${PROJECT}/keys`;
  route(
    api,
    {
      method: "get",
      path: keys,
      summary: "Lists a project's keys",
      by: "operator",
      answer: pageShape(KeyShape),
    },
    async (context) => {
      auth.operator(context);
      const { projectId } = await projectOf(context, deps);
      const items = (await deps.store.listKeys(projectId)).map(keyView);
      return json(context, 200, { items, nextCursor: null });
    },
  );
  route(
    api,
    {
      method: "post",
      path: keys,
      summary: "Makes a key; it is shown whole this once",
      by: "operator",
      body: NewKeyInput,
      status: 201,
      answer: MadeKey,
    },
    async (context) => {
      auth.operator(context);
      const { projectId } = await projectOf(context, deps);
      const input = await readInput(context, NewKeyInput);
      const { key, text } = mintKey(
        projectId,
        input.kind,
        deps.clock.wall(),
        input.expiresAt ?? null,
      );
      await deps.store.createKey(key);
      const view = keyView({ ...key, lastUsedAt: null, revokedAt: null });
      return json(context, 201, { ...view, key: text });
    },
  );
  route(
    api,
    {
      method: "delete",
      path: `${keys}/{keyId}`,
      summary: "Revokes a key",
      by: "operator",
      answer: z.object({ keyId: z.string(), revoked: z.literal(true) }),
    },
    async (context) => {
      auth.operator(context);
      const { projectId } = await projectOf(context, deps);
      const keyId = context.req.param("keyId") ?? "";
      const revoked =
        isUuid(keyId) && (await deps.store.revokeKey(projectId, keyId as KeyId, deps.clock.wall()));
      if (!revoked) throw notFound("key");
      return json(context, 200, { keyId, revoked: true });
    },
  );
}

async function createProject(
  context: ApiContext,
  deps: ApiDeps,
  input: z.output<typeof NewProjectInput>,
): Promise<Response> {
  const { store, clock, limits } = deps;
  const createdAt = clock.wall();
  const projectId = mintProjectId(createdAt);
  const publishable = mintKey(projectId, "pk", createdAt, null);
  const secret = mintKey(projectId, "sk", createdAt, null);
  const outcome = await store.createProject(
    {
      projectId,
      // Checked by the input's shape.
      accountId: (input.accountId as AccountId | undefined) ?? null,
      name: input.name,
      callsPerMinute: input.callsPerMinute ?? limits.callsPerMinute,
      allowedOrigins: input.allowedOrigins ?? [],
      suspended: false,
      stopped: false,
      ...NEW_PROJECT_MONEY,
      createdAt,
      projectsMax: limits.projectsPerAccount,
    },
    [publishable.key, secret.key],
  );
  if (outcome === "limit_reached") {
    throw new ApiError("LIMIT_REACHED", `The account has ${limits.projectsPerAccount} projects`);
  }
  if (outcome === "no_account") {
    throw new ApiError("VALIDATION_ERROR", "accountId: there is no such account");
  }
  const project = await store.getProject(projectId);
  if (project === null) throw notFound("project");
  return json(context, 201, {
    ...projectView(project),
    publishableKey: publishable.text,
    secretKey: secret.text,
  });
}

/** Mints a key; `key` is what is stored and `text` what is shown once. */
function mintKey(
  projectId: ProjectId,
  kind: KeyKind,
  createdAt: number,
  expiresAt: number | null,
): { readonly key: NewKey; readonly text: string } {
  const text = mintToken(kind === "pk" ? "publishableKey" : "secretKey");
  const key = {
    keyId: mintKeyId(createdAt),
    projectId,
    kind,
    hash: hashToken(text),
    plain: kind === "pk" ? text : null,
    last4: text.slice(-4),
    createdAt,
    expiresAt,
  };
  return { key, text };
}

async function projectOf(context: ApiContext, deps: ApiDeps): Promise<Project> {
  const projectId = context.req.param("projectId") ?? "";
  const project = isUuid(projectId) ? await deps.store.getProject(projectId as ProjectId) : null;
  if (project === null) throw notFound("project");
  return project;
}
