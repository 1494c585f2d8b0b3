import { z } from "@hono/zod-openapi";
import type { AccountId } from "@relay/protocol";
import { mintProjectId } from "../ids.ts";
import { ApiError, notFound } from "./errors.ts";
import { mintKey } from "./mint-key.ts";
import type { ApiDeps } from "./routes.ts";
import { ProjectShape, projectView } from "./shapes.ts";

/** A new project as its maker is shown it: with its first keys, this once. */
export const MadeProject = ProjectShape.extend({
  publishableKey: z.string(),
  secretKey: z.string(),
}).openapi("MadeProject");

type NewSettings = {
  readonly name: string;
  readonly callsPerMinute?: number | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly freeCallsPerMonth?: number | null | undefined;
  readonly priceMicrosPerCall?: number | undefined;
  readonly spendCapMicros?: number | null | undefined;
};

/** Makes a project in an account; null means the operator's own. Refusals are `ApiError`s. */
export async function createProject(
  deps: ApiDeps,
  accountId: AccountId | null,
  settings: NewSettings,
): Promise<z.output<typeof MadeProject>> {
  const { store, clock, limits } = deps;
  const { settings: money } = deps.billing;
  const createdAt = clock.wall();
  const projectId = mintProjectId(createdAt);
  const publishable = mintKey(projectId, "pk", createdAt, null);
  const secret = mintKey(projectId, "sk", createdAt, null);
  const outcome = await store.createProject(
    {
      projectId,
      accountId,
      name: settings.name,
      callsPerMinute: settings.callsPerMinute ?? limits.callsPerMinute,
      allowedOrigins: settings.allowedOrigins ?? [],
      suspended: false,
      stopped: false,
      // Null is a setting of its own: unlimited.
      freeCallsPerMonth:
        settings.freeCallsPerMonth === undefined
          ? money.freeCallsPerMonth
          : settings.freeCallsPerMonth,
      priceMicrosPerCall: settings.priceMicrosPerCall ?? money.priceMicrosPerCall,
      spendCapMicros:
        settings.spendCapMicros === undefined ? money.spendCapMicros : settings.spendCapMicros,
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
  return {
    ...projectView(project),
    publishableKey: publishable.text,
    secretKey: secret.text,
  };
}
