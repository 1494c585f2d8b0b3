import { z } from "@hono/zod-openapi";
import { isUuid } from "@relay/protocol";
import type { KeyId, ProjectId } from "@relay/protocol";
import type { CreatedKey } from "../store/store.ts";
import { noteChange } from "./audit.ts";
import type { Auth } from "./auth.ts";
import { ApiError, notFound } from "./errors.ts";
import { mintKey } from "./mint-key.ts";
import { projectOfPath } from "./operator.ts";
import { json, readInput, route } from "./routes.ts";
import type { Api, ApiContext, ApiDeps, Caller } from "./routes.ts";
import { KeyShape, keyView, pageShape } from "./shapes.ts";

/** Live keys of a project; past that one must be revoked first. */
const LIVE_KEYS_MAX = 20;
const HOUR_MS = 3_600_000;
const OVERLAP_HOURS_MAX = 720;
const OVERLAP = `must be a whole number from 0 to ${OVERLAP_HOURS_MAX}`;

const NewKeyInput = z
  .object({
    kind: z.enum(["pk", "sk"], { error: "must be pk or sk" }),
    expiresAt: z.iso
      .datetime({ error: "must be an ISO 8601 time in UTC" })
      .transform((text) => Date.parse(text))
      .nullish(),
    replaces: z
      .string({ error: "must be a key id" })
      .refine(isUuid, "must be a key id")
      .optional()
      .openapi({ description: "A live key of the same kind, which then works only so long." }),
    overlapHours: z
      .int({ error: OVERLAP })
      .min(0, OVERLAP)
      .max(OVERLAP_HOURS_MAX, OVERLAP)
      .default(24)
      .openapi({ description: "How long the replaced key still works." }),
  })
  .openapi("NewKey");

const MadeKey = KeyShape.extend({ key: z.string() }).openapi("MadeKey");

type KeyRoutes = {
  /** Where the keys are listed; a key's own address is one step below. */
  readonly path: string;
  readonly by: Caller;
  readonly projectOf: (context: ApiContext) => Promise<{ readonly projectId: ProjectId }>;
};

/** A project's keys, for the operator and, by session, for its developers (SPEC 9). */
export function addKeyRoutes(api: Api, deps: ApiDeps, auth: Auth): void {
  const operators: KeyRoutes = {
    path: "/v1/operator/projects/{projectId}/keys",
    by: "operator",
    projectOf: async (context) => {
      await auth.operator(context);
      return projectOfPath(context, deps);
    },
  };
  const developers: KeyRoutes = {
    path: "/api/projects/{projectId}/keys",
    by: "visitor",
    projectOf: (context) => auth.developer(context),
  };
  for (const routes of [operators, developers]) {
    addList(api, deps, routes);
    addCreation(api, deps, routes);
    addRevocation(api, deps, routes);
  }
}

function addList(api: Api, deps: ApiDeps, { path, by, projectOf }: KeyRoutes): void {
  route(
    api,
    { method: "get", path, summary: "Lists a project's keys", by, answer: pageShape(KeyShape) },
    async (context) => {
      const { projectId } = await projectOf(context);
      const items = (await deps.store.listKeys(projectId)).map(keyView);
      return json(context, 200, { items, nextCursor: null });
    },
  );
}

function addCreation(api: Api, deps: ApiDeps, { path, by, projectOf }: KeyRoutes): void {
  route(
    api,
    {
      method: "post",
      path,
      summary: "Makes a key; a secret one is shown whole this once",
      by,
      need: "keys",
      body: NewKeyInput,
      status: 201,
      answer: MadeKey,
      errors: ["LIMIT_REACHED"],
    },
    async (context) => {
      const { projectId } = await projectOf(context);
      const { kind, expiresAt, replaces, overlapHours } = await readInput(context, NewKeyInput);
      const now = deps.clock.wall();
      const { key, text } = mintKey(projectId, kind, now, expiresAt ?? null);
      refuse(
        await deps.store.createKey(key, {
          liveMax: LIVE_KEYS_MAX,
          replaces:
            replaces === undefined
              ? null
              : // Checked by the input's shape.
                { keyId: replaces as KeyId, expiresAt: now + overlapHours * HOUR_MS },
        }),
      );
      const view = keyView({ ...key, lastUsedAt: null, revokedAt: null });
      noteChange(context, { target: key.keyId });
      return json(context, 201, { ...view, key: text });
    },
  );
}

function addRevocation(api: Api, deps: ApiDeps, { path, by, projectOf }: KeyRoutes): void {
  route(
    api,
    {
      method: "delete",
      path: `${path}/{keyId}`,
      summary: "Revokes a key",
      by,
      need: "keys",
      answer: z.object({ keyId: z.string(), revoked: z.literal(true) }),
    },
    async (context) => {
      const { projectId } = await projectOf(context);
      const keyId = context.req.param("keyId") ?? "";
      const revoked =
        isUuid(keyId) && (await deps.store.revokeKey(projectId, keyId as KeyId, deps.clock.wall()));
      if (!revoked) throw notFound("key");
      return json(context, 200, { keyId, revoked: true });
    },
  );
}

function refuse(created: CreatedKey): void {
  switch (created) {
    case "created":
      return;
    case "no_project":
      throw notFound("project");
    case "no_key":
      throw new ApiError("VALIDATION_ERROR", "replaces: is not a live key of this kind");
    case "limit_reached":
      throw new ApiError(
        "LIMIT_REACHED",
        `The project has ${LIVE_KEYS_MAX} live keys; revoke one first`,
      );
  }
}
