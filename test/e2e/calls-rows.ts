/** What Relay has written down about calls, which for some of it is later than its answers. */
import type { JsonObject, TestLink, TestProject } from "./harness.ts";

/** How long a test waits for something that does not come. */
const PATIENCE_MS = 10_000;

/** Asks until the answer is right. */
async function until(
  ask: () => Promise<JsonObject>,
  isRight: (answer: JsonObject) => boolean,
): Promise<JsonObject> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    if (isRight(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`waited in vain; so far: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until the project has `count` call rows, then returns all of them, the newest first. */
export async function rowsOf(project: TestProject, count: number): Promise<JsonObject[]> {
  const { items } = await until(
    async () => ({ items: await project.calls("?limit=200") }),
    (answer) => answer["items"].length >= count,
  );
  return items;
}

/** Waits until the project's usage says `total` calls, then returns it. */
export function usageOf(project: TestProject, total: number): Promise<JsonObject> {
  return until(
    async () => (await project.relay.rest("GET", "/v1/usage", project.secretKey)).body,
    (usage) => usage["total"] >= total,
  );
}

/** Waits until the link's last client is `name`, then returns it. */
export async function clientOf(
  project: TestProject,
  link: TestLink,
  name: string,
): Promise<JsonObject> {
  const path = `/v1/links/${link.linkId}`;
  const { client } = await until(
    async () => (await project.relay.rest("GET", path, project.secretKey)).body,
    (view) => view["client"]?.name === name,
  );
  return client;
}

/** The body of a `tools/call`; `argumentsText` is raw JSON. */
export function callText(
  argumentsText: string,
  more: { readonly id?: string; readonly tool?: string; readonly meta?: string } = {},
): string {
  const { id = "1", tool = "search_notes", meta } = more;
  const members = [
    `"name":${JSON.stringify(tool)}`,
    `"arguments":${argumentsText}`,
    ...(meta === undefined ? [] : [`"_meta":${meta}`]),
  ];
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{${members.join(",")}}}`;
}
