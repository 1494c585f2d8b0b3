/**
 * WebMCP: tools that a page registers with `document.modelContext` become tools of its relay, so that
 * hosts outside of the browser can call them too.
 */
import type { ObjectSchema } from "./json-schema-value.ts";
import { messageOf } from "./relay-error.ts";
import type { Relay } from "./relay.ts";
import { tool } from "./tool.ts";
import type { CallContext, Tool } from "./tool.ts";

/** A tool as a page registers it, or as `getTools` lists it. */
export type WebMcpTool = {
  readonly name: string;
  readonly title?: string | null;
  readonly description: string;
  /** JSON Schema; older browsers list it as text. */
  readonly inputSchema?: object | string | null;
  readonly annotations?: {
    readonly readOnlyHint?: boolean;
    readonly consequentialHint?: boolean;
  } | null;
  readonly execute?: (args: object, client: object) => unknown;
};

/** The part of `document.modelContext` that is used. */
export type ModelContext = {
  registerTool(tool: WebMcpTool, options?: { readonly signal?: AbortSignal }): unknown;
  getTools?(): Promise<readonly WebMcpTool[]>;
  executeTool?(
    tool: WebMcpTool,
    args: never,
    options: { readonly signal: AbortSignal },
  ): Promise<unknown>;
  addEventListener?(type: "toolchange", listener: () => void): void;
  removeEventListener?(type: "toolchange", listener: () => void): void;
};

export type WebMcpOptions = {
  /** `document.modelContext` unless given. */
  readonly context?: ModelContext;
  /** Hears of a tool that Relay can't carry, or whose name the app has taken; warns otherwise. */
  readonly onRefused?: (name: string, why: string) => void;
};

/**
 * Adds the page's WebMCP tools to the relay's own, now and whenever they change; returns how to end
 * that. Where the browser can list tools, all of them are taken, also those of forms; elsewhere those
 * that are registered from now on. Does nothing where the browser has no WebMCP.
 */
export function exposeWebMcp(relay: Relay, options: WebMcpOptions = {}): () => void {
  // A global of some browsers only.
  const page = globalThis as { readonly document?: { readonly modelContext?: ModelContext } };
  const { context = page.document?.modelContext, onRefused = warn } = options;
  if (context === undefined) return () => undefined;
  let exposed: readonly Tool[] = [];
  const replace = (found: readonly Tool[]): void => {
    const own = relay.tools.filter((other) => !exposed.includes(other));
    const taken = new Set(own.map(({ definition }) => definition.name));
    const next = found.filter(({ definition: { name } }) => {
      if (!taken.has(name)) return true;
      onRefused(name, "the app has a tool of this name");
      return false;
    });
    try {
      relay.setTools([...own, ...next]);
      exposed = next;
    } catch (error) {
      onRefused(next.map(({ definition }) => definition.name).join(", "), messageOf(error));
    }
  };
  const take = (found: WebMcpTool, run: Run): Tool[] => {
    try {
      return [relayTool(found, run)];
    } catch (error) {
      onRefused(found.name, messageOf(error));
      return [];
    }
  };
  const end =
    context.getTools && context.executeTool
      ? followTools(context, take, replace)
      : interceptTools(context, take, replace);
  return () => {
    end();
    replace([]);
  };
}

type Run = (args: object, call: CallContext) => unknown;
type Take = (found: WebMcpTool, run: Run) => Tool[];
type Replace = (found: readonly Tool[]) => void;

/** Takes the tools that the browser lists, each time it says that they changed. */
function followTools(context: ModelContext, take: Take, replace: Replace): () => void {
  let turn = 0;
  const follow = async (): Promise<void> => {
    turn += 1;
    const mine = turn;
    const found = (await context.getTools?.()) ?? [];
    if (mine !== turn) return;
    replace(
      found.flatMap((one) =>
        take(one, async (args, { signal }) =>
          resultOf(await context.executeTool?.(one, argumentsOf(args), { signal })),
        ),
      ),
    );
  };
  const onChange = (): void => void follow();
  context.addEventListener?.("toolchange", onChange);
  onChange();
  return () => {
    turn += 1;
    context.removeEventListener?.("toolchange", onChange);
  };
}

/** Takes the tools that the page registers from now on. */
function interceptTools(context: ModelContext, take: Take, replace: Replace): () => void {
  const registered = new Set<Tool>();
  const own = Object.getOwnPropertyDescriptor(context, "registerTool");
  const register = context.registerTool.bind(context);
  context.registerTool = (found, options) => {
    const done = register(found, options);
    const { execute } = found;
    if (execute === undefined) return done;
    for (const one of take(found, (args) => execute(args, USER_IS_HERE))) {
      registered.add(one);
      options?.signal?.addEventListener("abort", () => {
        registered.delete(one);
        replace([...registered]);
      });
    }
    replace([...registered]);
    return done;
  };
  return () => {
    // The browser's own is on the prototype.
    if (own === undefined) Reflect.deleteProperty(context, "registerTool");
    else Object.defineProperty(context, "registerTool", own);
  };
}

/** What older drafts hand to `execute`: the page may ask its user, who is in front of it. */
const USER_IS_HERE = {
  requestUserInteraction: (ask: () => unknown) => ask(),
};

function relayTool(found: WebMcpTool, run: Run): Tool {
  const { name, title, description, inputSchema, annotations } = found;
  const schema: unknown = typeof inputSchema === "string" ? JSON.parse(inputSchema) : inputSchema;
  const { readOnlyHint, consequentialHint } = annotations ?? {};
  const input: ObjectSchema = { type: "object", ...Object(schema) };
  return tool(name, {
    description,
    input,
    ...(title && { title }),
    annotations: {
      ...(readOnlyHint !== undefined && { readOnlyHint }),
      // What a page calls consequential, a person wants to be asked about.
      ...(consequentialHint === true && { destructiveHint: true }),
    },
    run: async (args, call) => (await run(args, call)) ?? "",
  });
}

/** Browsers up to Chrome 154 take the arguments as JSON text, later ones as an object: this is both. */
function argumentsOf(args: object): never {
  const both = { ...args };
  if (!Object.hasOwn(both, "toString")) {
    Object.defineProperty(both, "toString", { value: () => JSON.stringify(args) });
  }
  // Whichever of the two the browser asks for.
  return both as never;
}

/** Browsers answer with text, the JSON of whatever is not text. */
function resultOf(answer: unknown): unknown {
  if (typeof answer !== "string") return answer;
  try {
    const value: unknown = JSON.parse(answer);
    return typeof value === "string" || (typeof value === "object" && value) ? value : answer;
  } catch {
    return answer;
  }
}

function warn(name: string, why: string): void {
  console.warn(`relay: the WebMCP tool ${name} is not exposed: ${why}`);
}
