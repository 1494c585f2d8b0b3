import type { Auth } from "./auth.ts";
import { ApiError } from "./errors.ts";
import { CreatedLink, NewLinkInput, createLink } from "./link-creation.ts";
import { LinkTry, readTry } from "./link-try.ts";
import { ownLink } from "./links.ts";
import { readInput, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";

/**
 * Links that a developer makes to try the app with, and one call on such a link. A person's own
 * link is never called from here: what is behind it is the person's.
 */
export function addLinkTrials(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "post",
      path: "/api/projects/{projectId}/trial-links",
      summary: "Makes a link to try the app with; its tokens are shown this once",
      by: "visitor",
      body: NewLinkInput,
      status: 201,
      answer: CreatedLink,
      errors: ["PROJECT_SUSPENDED", "LIMIT_REACHED"],
    },
    async (context) => {
      const project = await auth.developer(context);
      if (project.suspended || project.stopped) throw disabled();
      const { label = null } = await readInput(context, NewLinkInput);
      const { projectId } = project;
      const wanted = { projectId, label, madeWithSecretKey: true, trial: true };
      return createLink(context, deps, wanted);
    },
  );
  route(
    api,
    {
      method: "post",
      path: "/api/projects/{projectId}/links/{linkId}/try",
      summary: "Calls a tool on a trial link and shows each frame; to leave is to cancel",
      by: "visitor",
      media: "text/event-stream",
      answer: null,
      errors: ["LINK_REVOKED", "NOT_A_TRIAL_LINK", "PROJECT_SUSPENDED"],
    },
    async (context) => {
      const { node, limits } = deps;
      const record = await ownLink(context, deps, auth);
      if (!record.link.trial) {
        const why = "This is a person's link; make a trial link to try the app with";
        throw new ApiError("NOT_A_TRIAL_LINK", why);
      }
      if (record.link.revokedAt !== null) {
        throw new ApiError("LINK_REVOKED", "The link was revoked");
      }
      const asked = await readTry(context, limits, deps.version);
      const driver = node.registry.open(record);
      if (driver.project.isDisabled) throw disabled();
      const open = await node.router.manifestOf(driver);
      // The two that turn a host's call away before it is one.
      if (node.isDraining || node.settler.isFull) {
        throw new ApiError("UNAVAILABLE", "The relay takes no calls now; try again", {
          "Retry-After": "5",
        });
      }
      return new LinkTry(deps, context, driver, asked).start(open);
    },
  );
}

function disabled(): ApiError {
  return new ApiError("PROJECT_SUSPENDED", "The project is suspended");
}
