/** Names that attack the page, put wherever a stranger can put one: by the real API and real sockets. */
import assert from "node:assert/strict";
import type { JsonObject, TestApp, TestLink } from "../e2e/harness.ts";
import { ECHO, callTool, connectApp, post } from "../e2e/harness.ts";
import type { Desk } from "./desk.ts";
import type { Facts } from "./places.ts";

/** Each sets `__ran` if a page takes it for more than text; none is longer than a label may be. */
export const PAYLOADS = {
  image: `<img src=x onerror=window.__ran=1>`,
  script: `"><script>window.__ran=1</script>`,
  quote: `' autofocus onfocus=window.__ran=1 x='`,
  address: `javascript:window.__ran=1`,
  template: "{{constructor.constructor('__ran=1')()}}${window.__ran=1}",
  override: "\u202Egpj.exe",
  long: "W".repeat(64),
} as const;
const ALL = Object.values(PAYLOADS);
export const HUGE = "W".repeat(10_000);

/** Tools whose every text is one of the payloads; a tool's name itself can't be. */
const TOOLS = ALL.map((text, index) => ({
  name: `tool_${index}`,
  title: text,
  description: text,
  inputSchema: {
    type: "object",
    title: text,
    properties: {
      [text]: { type: "string", title: text, description: text },
      choice: { enum: ALL, description: text, default: text },
    },
    required: [text],
  },
  annotations: { title: text },
}));

export type Hostile = { readonly facts: Facts; readonly apps: readonly TestApp[] };

/** Fills a Relay with them; the desk's own account and person get such names too. */
export async function fillHostile(desk: Desk): Promise<Hostile> {
  const projects = [];
  for (const name of ALL) projects.push(await desk.relay.project({ name }));
  const [project] = projects;
  assert.ok(project !== undefined);
  const apps: TestApp[] = [];
  for (const label of ALL) {
    const link = await project.link(label);
    apps.push(await useAs(link, label));
  }
  // One that has left with a reason of its own.
  const left = await useAs(await project.link(PAYLOADS.image), PAYLOADS.image);
  left.socket.close(4000, PAYLOADS.script);
  await left.closed;
  const path = `/api/projects/${project.projectId}`;
  const trial = (await must(desk, "POST", `${path}/trial-links`, {
    label: `Trial link ${PAYLOADS.image}`,
  })) as TestLink;
  apps.push(await useAs(trial, PAYLOADS.image));
  await must(desk, "PATCH", `${path}/webhook`, { url: `https://example.com/?x=${PAYLOADS.image}` });
  await fillPeople(desk);
  const { items } = await must(desk, "GET", `${path}/links?sort=createdAt`);
  const [first] = items as readonly TestLink[];
  assert.ok(first !== undefined);
  const facts = { projectId: project.projectId, linkId: first.linkId, trialLinkId: trial.linkId };
  return { facts, apps };
}

/** The app connects, a host says who it is, and calls tools that are there and that are not. */
async function useAs(link: TestLink, text: string): Promise<TestApp> {
  const app = await connectApp(link, {
    ...ECHO,
    app: { name: text, version: text },
    instructions: text,
    tools: TOOLS,
  });
  const clientInfo = { name: `${text}${HUGE}`, version: text };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  await post(link.mcpUrl, { jsonrpc: "2.0", id: 1, method: "initialize", params });
  await callTool(link.mcpUrl, "tool_0", { [PAYLOADS.image]: text });
  await callTool(link.mcpUrl, text);
  await callTool(link.mcpUrl, HUGE);
  return app;
}

/** Names of people and accounts, notes of invitations and of money. */
async function fillPeople(desk: Desk): Promise<void> {
  const me = await must(desk, "GET", "/api/me");
  const [account] = me["accounts"] as readonly { readonly accountId: string }[];
  const path = `/api/accounts/${account?.accountId}`;
  await must(desk, "PATCH", path, { name: PAYLOADS.script });
  await must(desk, "POST", "/api/auth/update-user", { name: PAYLOADS.image });
  for (const [index, name] of ALL.entries()) {
    await must(desk, "POST", `${path}/invitations`, { role: "developer", note: name });
    await must(desk, "POST", "/api/operator/invitations", { note: name });
    await must(desk, "POST", `/api/operator/accounts/${account?.accountId}/credits`, {
      amountMicros: 1_000,
      sourceKey: `gift-${index}`,
      note: name,
    });
    const person = { name, email: `p${index}@example.com`, password: "correct horse battery" };
    const made = await desk.relay.relay.people.accounts.createUser(person);
    assert.equal(made.type, "created");
    await joinAs(desk, person, path);
  }
}

/** Somebody accepts an invitation, with a browser that calls itself by such a name. */
async function joinAs(
  desk: Desk,
  person: { readonly name: string; readonly email: string; readonly password: string },
  path: string,
): Promise<void> {
  const invited = await must(desk, "POST", `${path}/invitations`, { role: "developer" });
  const token = new URL(String(invited["url"])).hash.slice("#token=".length);
  const { cookies } = await desk.relay.relay.people.accounts.signIn(person.email, person.password, {
    address: "::1",
    userAgent: PAYLOADS.image,
  });
  const Cookie = cookies.map((cookie) => cookie.split(";")[0]).join("; ");
  const headers = { Cookie, Origin: new URL(desk.relay.url).origin };
  const joined = await desk.relay.rest("POST", "/api/invitations", null, { token }, headers);
  assert.equal(joined.status, 200, JSON.stringify(joined.body));
}

async function must(desk: Desk, method: string, path: string, body?: unknown): Promise<JsonObject> {
  const answer = await desk.ask(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
