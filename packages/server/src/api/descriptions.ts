import { OUTCOME_NAMES } from "@relay/protocol";
import { asyncApiDocument } from "./async-api.ts";
import { SECURITY, json } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";

/** The version of the API's description; grows with what it describes. */
const API_VERSION = "1.0.0";

/** `/openapi.json` and `/asyncapi.json`: what developers' tools read (SPEC 3). */
export function addDescriptions(api: Api, deps: ApiDeps): void {
  for (const [name, description] of Object.entries(SECURITY)) {
    api.openAPIRegistry.registerComponent("securitySchemes", name, {
      type: "http",
      scheme: "bearer",
      description,
    });
  }
  api.get("/openapi.json", async (context) =>
    json(
      context,
      200,
      api.getOpenAPI31Document({
        openapi: "3.1.0",
        info: {
          title: "Relay",
          version: API_VERSION,
          description: `The REST API of a Relay. A call's outcome is one of ${OUTCOME_NAMES.join(", ")}.`,
        },
        servers: [{ url: deps.urls.public }],
      }),
    ),
  );
  api.get("/asyncapi.json", async (context) =>
    json(context, 200, asyncApiDocument(deps.urls, deps.limits)),
  );
}
