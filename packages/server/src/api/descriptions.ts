import { OUTCOME_NAMES } from "@relay/protocol";
import { asyncApiDocument } from "./async-api.ts";
import { SECURITY } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";

/** The version of the API's description; grows with what it describes. */
const API_VERSION = "1.0.0";
const JSON_TYPE = { "Content-Type": "application/json" } as const;

/** `/openapi.json` and `/asyncapi.json`: what developers' tools read (SPEC 3). */
export function addDescriptions(api: Api, deps: ApiDeps): void {
  for (const [name, description] of Object.entries(SECURITY)) {
    api.openAPIRegistry.registerComponent("securitySchemes", name, {
      type: "http",
      scheme: "bearer",
      description,
    });
  }
  const openApi = writtenOnce(() =>
    api.getOpenAPI31Document({
      openapi: "3.1.0",
      info: {
        title: "Relay",
        version: API_VERSION,
        description: `The REST API of a Relay. A call's outcome is one of ${OUTCOME_NAMES.join(", ")}.`,
      },
      servers: [{ url: deps.urls.public }],
    }),
  );
  const asyncApi = writtenOnce(() => asyncApiDocument(deps.urls, deps.limits));
  api.get("/openapi.json", (context) => context.body(openApi(), 200, JSON_TYPE));
  api.get("/asyncapi.json", (context) => context.body(asyncApi(), 200, JSON_TYPE));
}

/**
 * Writes a document when it is first asked for, and only then: anybody may ask, as often as they
 * like, and to build the larger one takes tens of milliseconds.
 */
function writtenOnce(build: () => unknown): () => string {
  let text: string | null = null;
  return () => (text ??= JSON.stringify(build()));
}
