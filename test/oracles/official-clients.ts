import { createRequire } from "node:module";

/** Whether an official client's schema accepts a value. */
export type Accepts = (value: unknown) => boolean;

/** The official MCP clients' own judgement, to hold ours against. */
export type OfficialClients = {
  /** SDK v1's `ToolSchema`. */
  readonly acceptsTool: Accepts;
  /** SDK v1's `CallToolResultSchema`. */
  readonly acceptsResult: Accepts;
  /** Whether SDK v1 compiles an `outputSchema`: `listTools` rejects when it does not. */
  readonly compilesV1: (schema: object) => boolean;
  /** Whether SDK v2 does: `callTool` rejects when it does not. */
  readonly compilesV2: (schema: object) => boolean;
  /** Connects a client to a server that answers each request with what `answer` returns for it. */
  readonly connect: (name: ClientName, answer: AnswerTo) => Promise<Client>;
};

export const CLIENT_NAMES = ["v1", "v2 legacy", "v2 modern"] as const;
export type ClientName = (typeof CLIENT_NAMES)[number];

/** The result of a request, as JSON text. */
export type AnswerTo = (method: string) => string;

/** Both reject as they would in a host. */
export type Client = {
  /** Lists the tools, and tells how many there are. */
  readonly countTools: () => Promise<number>;
  readonly callTool: (name: string) => Promise<unknown>;
};

export const NOT_INSTALLED = "test/clients is not installed: run npm install there";

/** Loads the clients from `test/clients`, which is no part of the workspace; null when not installed. */
export function loadOfficialClients(): OfficialClients | null {
  const folder = new URL("../clients/", import.meta.url);
  const require = createRequire(new URL("package.json", folder));
  try {
    require.resolve("@modelcontextprotocol/sdk/types.js");
    require.resolve("@modelcontextprotocol/client");
  } catch {
    return null;
  }
  // The clients' types are not at hand here: these name the little that the oracles touch.
  const types = require("@modelcontextprotocol/sdk/types.js") as Record<
    "ToolSchema" | "CallToolResultSchema",
    ZodSchema
  >;
  const validatorV1 = require("@modelcontextprotocol/sdk/validation/ajv") as ValidatorModule;
  const validatorV2 = require("@modelcontextprotocol/client/validators/ajv") as ValidatorModule;
  const v1 = require("@modelcontextprotocol/sdk/client/index.js") as SdkModule;
  const v2 = require("@modelcontextprotocol/client") as SdkModule;
  return {
    acceptsTool: (value) => types.ToolSchema.safeParse(value).success,
    acceptsResult: (value) => types.CallToolResultSchema.safeParse(value).success,
    compilesV1: compilerOf(validatorV1),
    compilesV2: compilerOf(validatorV2),
    connect: async (name, answer) => {
      const { Client: SdkClient } = name === "v1" ? v1 : v2;
      const options = name === "v2 modern" ? { versionNegotiation: { mode: "auto" } } : {};
      const client = new SdkClient({ name: "oracle", version: "1" }, options);
      await client.connect(new InMemoryServer(name === "v2 modern", answer));
      return {
        countTools: async () => (await client.listTools()).tools.length,
        callTool: (tool) => client.callTool({ name: tool, arguments: {} }),
      };
    },
  };
}

/** A validator is dear to make and keeps every schema it compiled, so that each serves for a while. */
const SCHEMAS_PER_VALIDATOR = 50;

function compilerOf({ AjvJsonSchemaValidator }: ValidatorModule): (schema: object) => boolean {
  let validator = new AjvJsonSchemaValidator();
  let schemas = 0;
  return (schema) => {
    schemas += 1;
    if (schemas % SCHEMAS_PER_VALIDATOR === 0) validator = new AjvJsonSchemaValidator();
    try {
      validator.getValidator(schema);
      return true;
    } catch {
      return false;
    }
  };
}

type ZodSchema = { safeParse(value: unknown): { readonly success: boolean } };
type ValidatorModule = {
  readonly AjvJsonSchemaValidator: new () => { getValidator(schema: object): unknown };
};
type SdkModule = { readonly Client: new (info: object, options: object) => SdkClient };
type SdkClient = {
  connect(transport: InMemoryServer): Promise<void>;
  listTools(): Promise<{ readonly tools: readonly unknown[] }>;
  callTool(params: object): Promise<unknown>;
};

/** The transport of a client, with a server of two methods at its end. */
class InMemoryServer {
  onmessage?: (message: unknown) => void;
  onclose?: () => void;
  readonly #modern: boolean;
  readonly #answer: AnswerTo;

  constructor(modern: boolean, answer: AnswerTo) {
    this.#modern = modern;
    this.#answer = answer;
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {
    this.onclose?.();
  }

  async send(message: { readonly id?: unknown; readonly method: string }): Promise<void> {
    if (message.id === undefined) return;
    const result = HANDSHAKES.get(message.method) ?? this.#answer(message.method);
    const marks = this.#modern ? '"resultType":"complete","ttlMs":0,"cacheScope":"private",' : "";
    const text = `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":{${marks}${result.slice(1)}}`;
    queueMicrotask(() => this.onmessage?.(JSON.parse(text)));
  }
}

const HANDSHAKES: ReadonlyMap<string, string> = new Map([
  [
    "initialize",
    '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}',
  ],
  ["server/discover", '{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}'],
]);
