import {
  type AppInfo,
  type LegacyVersion,
  META_KEYS,
  MODERN_VERSIONS,
  notConnectedYetText,
  RPC_ERRORS,
  RPC_TEXTS,
  type RpcErrorName,
} from "@relay/protocol";

/**
 * The bodies of answers to an MCP host, built as JSON text around raw texts: the request's id, the
 * app's tools and its results come out as they were written (SPEC 8). Every raw text that goes in
 * is on one line, so every answer is too and fits in one SSE `data:` line. Pure.
 */

/** The generation of MCP a request speaks (SPEC 6): `modern` is 2026-07-28 and later. */
export type Era = "legacy" | "modern";

/** What an answer must know of its request: `idText` is the id as it was written. */
export type Asked = { readonly era: Era; readonly idText: string };

/** An answer whose HTTP status is not always 200. */
export type HostAnswer = { readonly status: 200 | 400 | 404; readonly body: string };

/** What answers say about the server; `manifest` is that of the last hello, null before the first. */
export type ServerFacts = {
  readonly projectName: string;
  readonly manifest: {
    readonly app: AppInfo;
    readonly instructions: string | null;
    readonly toolsText: string;
  } | null;
};

/** A tool's result; the texts are raw JSON on one line. */
export type ToolResult = {
  readonly contentText: string;
  readonly structuredText: string | null;
  readonly isError: boolean;
};

export type Progress = {
  readonly progress: number;
  readonly total: number | null;
  readonly message: string | null;
};

/** How long a modern host may keep a list: short, since any hello can change it unannounced. */
const LIST_TTL_MS = 10_000;

const CAPABILITIES = '{"tools":{}}';

/** Answers `initialize` with the negotiated version. */
export function initializeAnswer(
  asked: Asked & { readonly version: LegacyVersion },
  facts: ServerFacts,
): string {
  return answer(asked, facts, [
    `"protocolVersion":${jsonText(asked.version)}`,
    `"capabilities":${CAPABILITIES}`,
    `"serverInfo":${serverInfo(facts)}`,
    ...instructions(facts),
  ]);
}

/** Answers `ping`, which only legacy has, with `{}`. */
export function pingAnswer(asked: Asked): string {
  return envelope(asked.idText, '"result":{}');
}

/** Answers `tools/list` from the stored text; before the first hello the list is empty. */
export function toolsListAnswer(asked: Asked, facts: ServerFacts): string {
  const tools = facts.manifest?.toolsText ?? "[]";
  return answer(asked, facts, [`"tools":${tools}`, ...caching(asked, facts)]);
}

/** Answers `server/discover`, which only modern has. */
export function discoverAnswer(asked: Asked, facts: ServerFacts): string {
  return answer(asked, facts, [
    `"supportedVersions":${JSON.stringify(MODERN_VERSIONS)}`,
    `"capabilities":${CAPABILITIES}`,
    ...instructions(facts),
    ...caching(asked, facts),
  ]);
}

/** Answers a call with a tool's result. */
export function toolResultAnswer(asked: Asked, facts: ServerFacts, result: ToolResult): string {
  const structured = result.structuredText;
  return answer(asked, facts, [
    `"content":${result.contentText}`,
    ...(structured === null ? [] : [`"structuredContent":${structured}`]),
    `"isError":${result.isError}`,
  ]);
}

/** Answers a call with one sentence that the model can repeat to the person. */
export function toolErrorAnswer(asked: Asked, facts: ServerFacts, text: string): string {
  const contentText = `[{"type":"text","text":${jsonText(text)}}]`;
  return toolResultAnswer(asked, facts, { contentText, structuredText: null, isError: true });
}

/** Answers invalid arguments: a JSON-RPC error for legacy, a tool error with its text for modern. */
export function invalidArgumentsAnswer(
  asked: Asked & { readonly name: string },
  facts: ServerFacts,
  why: string,
): string {
  const text = RPC_TEXTS.invalidArguments(asked.name, why);
  return asked.era === "modern"
    ? toolErrorAnswer(asked, facts, text)
    : rpcError(asked.idText, "invalidParams", text);
}

/** Answers a call of a tool that is not in the app's list. */
export function unknownToolAnswer(asked: Asked & { readonly name: string }): string {
  return rpcError(asked.idText, "invalidParams", RPC_TEXTS.unknownTool(asked.name));
}

/** Answers a `tools/call` that names no tool. */
export function namelessCallAnswer(asked: Asked): string {
  return rpcError(asked.idText, "invalidParams", "Invalid params: name must be a string");
}

/** Answers any method of a suspended project. */
export function disabledAnswer(asked: Asked): string {
  return rpcError(asked.idText, "disabled", RPC_TEXTS.disabled());
}

/** Answers a method Relay does not offer; modern says so with the HTTP status as well. */
export function methodNotFoundAnswer(asked: Asked & { readonly method: string }): HostAnswer {
  const body = rpcError(asked.idText, "methodNotFound", RPC_TEXTS.methodNotFound(asked.method));
  return { status: asked.era === "modern" ? 404 : 200, body };
}

/** Writes a `notifications/progress` message; `tokenText` is the host's token as it was written. */
export function progressNotification(tokenText: string, progress: Progress): string {
  const params = [
    `"progressToken":${tokenText}`,
    `"progress":${progress.progress}`,
    ...(progress.total === null ? [] : [`"total":${progress.total}`]),
    ...(progress.message === null ? [] : [`"message":${jsonText(progress.message)}`]),
  ];
  return `{"jsonrpc":"2.0","method":"notifications/progress","params":{${params.join(",")}}}`;
}

/** Writes a JSON-RPC error; an id that could not be read (null) is left out, as MCP wants it. */
export function rpcError(
  idText: string | null,
  name: RpcErrorName,
  message: string,
  dataText: string | null = null,
): string {
  const data = dataText === null ? "" : `,"data":${dataText}`;
  const { code } = RPC_ERRORS[name];
  return envelope(idText, `"error":{"code":${code},"message":${jsonText(message)}${data}}`);
}

/** A result of either era: modern adds what it wants of every result. */
function answer(asked: Asked, facts: ServerFacts, members: readonly string[]): string {
  const all =
    asked.era === "legacy"
      ? members
      : [
          '"resultType":"complete"',
          ...members,
          `"_meta":{${JSON.stringify(META_KEYS.serverInfo)}:${serverInfo(facts)}}`,
        ];
  return envelope(asked.idText, `"result":{${all.join(",")}}`);
}

function envelope(idText: string | null, member: string): string {
  const id = idText === null ? "" : `"id":${idText},`;
  return `{"jsonrpc":"2.0",${id}${member}}`;
}

function serverInfo(facts: ServerFacts): string {
  const version = facts.manifest?.app.version ?? "0";
  return `{"name":${jsonText(facts.projectName)},"version":${jsonText(version)}}`;
}

function instructions(facts: ServerFacts): string[] {
  const text =
    facts.manifest === null ? notConnectedYetText(facts.projectName) : facts.manifest.instructions;
  return text === null ? [] : [`"instructions":${jsonText(text)}`];
}

/** The URL is the credential, so nothing is shared; an empty first list must not be kept at all. */
function caching(asked: Asked, facts: ServerFacts): string[] {
  if (asked.era === "legacy") return [];
  const ttlMs = facts.manifest === null ? 0 : LIST_TTL_MS;
  return [`"ttlMs":${ttlMs}`, '"cacheScope":"private"'];
}

function jsonText(text: string): string {
  return JSON.stringify(text.toWellFormed());
}
