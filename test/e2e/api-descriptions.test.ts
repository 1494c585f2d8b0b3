import assert from "node:assert/strict";
import { test } from "node:test";
import { openRelay } from "./harness.ts";
import type { JsonObject } from "./harness.ts";

test("the OpenAPI document names every operation with its credential and its refusals", async () => {
  await using relay = await openRelay();
  const { status, body } = await relay.rest("GET", "/openapi.json", null);
  assert.equal(status, 200);
  assert.equal(body["openapi"], "3.1.0");
  const operations = Object.entries(body["paths"] as JsonObject).flatMap(([path, methods]) =>
    Object.keys(methods as JsonObject).map((method) => `${method.toUpperCase()} ${path}`),
  );
  for (const expected of [
    "POST /v1/links",
    "GET /v1/links",
    "GET /v1/links/{linkId}",
    "PATCH /v1/links/{linkId}",
    "POST /v1/links/{linkId}/rotate",
    "GET /v1/project",
    "PATCH /v1/project",
    "GET /v1/calls",
    "GET /v1/usage",
    "POST /v1/operator/projects",
    "DELETE /v1/operator/projects/{projectId}/keys/{keyId}",
    "GET /readyz",
  ]) {
    assert.ok(operations.includes(expected), expected);
  }
  const creation = body["paths"]["/v1/links"].post;
  assert.deepEqual(creation.security, [{ app: [] }]);
  assert.deepEqual(Object.keys(creation.responses).toSorted(), [
    "201",
    "400",
    "401",
    "403",
    "413",
    "415",
    "429",
    "503",
  ]);
  assert.match(creation.responses["403"].description, /LIMIT_REACHED/);
  assert.equal(body["paths"]["/v1/links/{linkId}"].get.parameters[0].name, "linkId");
});

test("what the API answers has the shape that its description gives it", async () => {
  await using relay = await openRelay();
  const { body } = await relay.rest("GET", "/openapi.json", null);
  const project = await relay.project();
  const link = await project.link("Phone");
  const shapes = body["components"]["schemas"] as JsonObject;
  const listed = await relay.rest("GET", "/v1/links", project.secretKey);
  const answers: readonly (readonly [string, JsonObject])[] = [
    ["CreatedLink", { ...link }],
    ["Link", listed.body["items"][0] as JsonObject],
    ["Project", (await relay.rest("GET", "/v1/project", project.secretKey)).body],
    ["Usage", (await relay.rest("GET", "/v1/usage", project.secretKey)).body],
  ];
  for (const [name, answer] of answers) {
    const declared = Object.keys(shapes[name].properties as JsonObject).toSorted();
    assert.deepEqual(Object.keys(answer).toSorted(), declared, name);
  }
});

test("the AsyncAPI document has every frame, and each reference in it leads somewhere", async () => {
  await using relay = await openRelay();
  const { status, body } = await relay.rest("GET", "/asyncapi.json", null);
  assert.equal(status, 200);
  assert.equal(body["asyncapi"], "3.0.0");
  const references = [...JSON.stringify(body).matchAll(/"\$ref":"([^"]+)"/g)].map(
    ([, reference = ""]) => reference,
  );
  assert.ok(references.length > 20);
  for (const reference of references) {
    let at: unknown = body;
    for (const step of reference.slice(2).split("/")) {
      at = typeof at === "object" && at !== null ? (at as JsonObject)[step] : undefined;
    }
    assert.notEqual(at, undefined, reference);
  }
});
