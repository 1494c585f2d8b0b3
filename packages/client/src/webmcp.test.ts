import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "./test/fake-clock.ts";
import { ECHO, Stage } from "./test/test-app.ts";
import { exposeWebMcp } from "./webmcp.ts";
import type { ModelContext, WebMcpTool } from "./webmcp.ts";

type Execute = (args: { readonly text?: string }) => unknown;

/** A browser's `document.modelContext`, of one of its generations. */
class FakeContext extends EventTarget implements ModelContext {
  readonly tools = new Map<string, WebMcpTool & { execute: Execute }>();
  readonly #schemaAs: "object" | "text";
  readonly #argumentsAs: "object" | "text";

  /** Whether a result that is text comes as JSON too. */
  readonly #quotes: boolean;

  constructor(schemaAs: "object" | "text" = "object", argumentsAs: "object" | "text" = "object") {
    super();
    this.#schemaAs = schemaAs;
    this.#argumentsAs = argumentsAs;
    this.#quotes = argumentsAs === "text";
  }

  async registerTool(
    tool: WebMcpTool & { execute: Execute },
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    if (this.tools.has(tool.name)) throw new DOMException("taken", "InvalidStateError");
    this.tools.set(tool.name, tool);
    options.signal?.addEventListener("abort", () => {
      this.tools.delete(tool.name);
      this.dispatchEvent(new Event("toolchange"));
    });
    this.dispatchEvent(new Event("toolchange"));
  }

  getTools(): Promise<WebMcpTool[]> {
    const listed = [...this.tools.values()].map(({ name, description, inputSchema }) => ({
      name,
      title: "",
      description,
      inputSchema: this.#schemaAs === "text" ? JSON.stringify(inputSchema) : (inputSchema ?? null),
      annotations: null,
    }));
    return Promise.resolve(listed);
  }

  async executeTool({ name }: WebMcpTool, args: unknown): Promise<string | null> {
    // What each generation does to its second argument: to text, or to a plain object.
    const text = this.#argumentsAs === "text" ? String(args) : JSON.stringify(args);
    const result = await this.tools.get(name)?.execute(JSON.parse(text) as { text?: string });
    if (result === undefined) return null;
    return typeof result === "string" && !this.#quotes ? result : JSON.stringify(result);
  }
}

const SHOUT = {
  name: "shout",
  description: "Says it loudly",
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
  execute: ({ text = "" }: { readonly text?: string }) => text.toUpperCase(),
};

async function page(context: ModelContext) {
  const stage = new Stage();
  const app = await stage.online();
  const refused: string[] = [];
  const end = exposeWebMcp(app.relay, {
    context,
    onRefused: (name, why) => refused.push(`${name}: ${why}`),
  });
  const names = async (): Promise<string[]> => {
    await stage.clock.pass(1_000);
    return stage.relay.link.tools.map(({ name }) => name);
  };
  return { stage, app, refused, end, names, link: stage.relay.link };
}

for (const [generation, context] of [
  ["that take text", new FakeContext("text", "text")],
  ["that list objects and take text", new FakeContext("object", "text")],
  ["that take objects", new FakeContext("object", "object")],
] as const) {
  test(`browsers ${generation}: a page's tool is a tool of its relay, and is called with its arguments`, async () => {
    const before = { ...SHOUT, name: "before" };
    await context.registerTool(before);
    const { names, link } = await page(context);
    assert.deepEqual(await names(), ["echo", "before"]);
    await context.registerTool(SHOUT);
    assert.deepEqual(await names(), ["echo", "before", "shout"]);
    assert.equal((await link.call("shout", { text: 'a "b"' })).text, 'A "B"');
    assert.deepEqual(link.tools.at(-1)?.inputSchema, SHOUT.inputSchema);
  });
}

test("a tool that the page unregisters is gone, and so is every one when exposing ends", async () => {
  const context = new FakeContext();
  const { names, end, app } = await page(context);
  const registration = new AbortController();
  await context.registerTool(SHOUT, registration);
  await context.registerTool({ ...SHOUT, name: "other" });
  assert.deepEqual(await names(), ["echo", "shout", "other"]);
  registration.abort();
  assert.deepEqual(await names(), ["echo", "other"]);
  end();
  assert.deepEqual(await names(), ["echo"]);
  await context.registerTool({ ...SHOUT, name: "late" });
  assert.deepEqual(await names(), ["echo"]);
  assert.deepEqual(app.relay.tools, [ECHO]);
});

test("hints go on: what only reads, and what a person wants to be asked about", async () => {
  const context: ModelContext = { registerTool: () => Promise.resolve() };
  const { names, link } = await page(context);
  for (const annotations of [{ readOnlyHint: true }, { consequentialHint: true }]) {
    context.registerTool({ ...SHOUT, name: Object.keys(annotations).join(), annotations });
  }
  await names();
  assert.deepEqual(
    link.tools.slice(1).map(({ annotations }) => annotations),
    [{ readOnlyHint: true }, { destructiveHint: true }],
  );
});

test("the app's own tools can change meanwhile", async () => {
  const context = new FakeContext();
  const { names, app } = await page(context);
  await context.registerTool(SHOUT);
  await names();
  app.relay.setTools(app.relay.tools.filter((one) => one !== ECHO));
  assert.deepEqual(await names(), ["shout"]);
});

test("what Relay can't carry is refused with a reason, and the rest goes on", async () => {
  const context = new FakeContext();
  const { names, refused } = await page(context);
  await context.registerTool({ ...SHOUT, name: "bad name" });
  await context.registerTool({ ...SHOUT, name: "echo" });
  await context.registerTool(SHOUT);
  assert.deepEqual(await names(), ["echo", "shout"]);
  assert.ok(refused.some((why) => why.startsWith("bad name: tool bad name: name must be 1 to 64")));
  assert.ok(refused.includes("echo: the app has a tool of this name"));
});

test("results are what the tool returned: an object, a whole result, a number, nothing", async () => {
  const context = new FakeContext();
  const { names, link } = await page(context);
  const content = [{ type: "text", text: "3 notes" }];
  await context.registerTool({ ...SHOUT, name: "object", execute: () => ({ notes: 3 }) });
  await context.registerTool({ ...SHOUT, name: "result", execute: () => ({ content }) });
  await context.registerTool({ ...SHOUT, name: "number", execute: () => "42" });
  await context.registerTool({ ...SHOUT, name: "nothing", execute: () => undefined });
  await names();
  assert.deepEqual((await link.call("object")).structuredContent, { notes: 3 });
  assert.deepEqual((await link.call("result")).content, content);
  assert.equal((await link.call("number")).text, "42");
  assert.deepEqual((await link.call("nothing")).content, []);
});

test("in a browser that can't list tools, those registered from now on are taken", async () => {
  const registered: string[] = [];
  const context: ModelContext = {
    registerTool: (tool) => {
      registered.push(tool.name);
      return Promise.resolve();
    },
  };
  const { names, link, end } = await page(context);
  const registration = new AbortController();
  context.registerTool(SHOUT, registration);
  assert.deepEqual(await names(), ["echo", "shout"]);
  assert.equal((await link.call("shout", { text: "hi" })).text, "HI");
  registration.abort();
  assert.deepEqual(await names(), ["echo"]);
  end();
  context.registerTool({ ...SHOUT, name: "late" });
  assert.deepEqual(await names(), ["echo"]);
  assert.deepEqual(registered, ["shout", "late"]);
});

test("a list of tools that comes late does not undo a newer one", async () => {
  const context = new FakeContext();
  const { names } = await page(context);
  const late = Promise.withResolvers<WebMcpTool[]>();
  const getTools = context.getTools.bind(context);
  context.getTools = () => late.promise;
  context.dispatchEvent(new Event("toolchange"));
  context.getTools = getTools;
  await context.registerTool(SHOUT);
  assert.deepEqual(await names(), ["echo", "shout"]);
  late.resolve([]);
  assert.deepEqual(await names(), ["echo", "shout"]);
});

test("where there is no WebMCP, nothing happens", async () => {
  const stage = new Stage();
  const app = await stage.online();
  exposeWebMcp(app.relay)();
  await settled();
  assert.deepEqual(app.relay.tools, [ECHO]);
});
