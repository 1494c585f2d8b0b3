import { after, before } from "node:test";
import { openRelay, post } from "../e2e/harness.ts";
import type { JsonObject, TestRelay } from "../e2e/harness.ts";
import { DroppingProxy } from "./dropping-proxy.ts";
import { CONTRACT_LIMITS, relayContract } from "./relay-contract.ts";
import type { HostOptions, HostSees, RelayUnderTest } from "./relay-contract.ts";

let relay: TestRelay;

before(async () => {
  relay = await openRelay({
    RELAY_CALL_TIMEOUT_SECONDS: String(CONTRACT_LIMITS.callTimeoutSeconds),
    RELAY_HELLO_TIMEOUT_SECONDS: String(CONTRACT_LIMITS.helloTimeoutSeconds),
    RELAY_LINKS_PER_IP_PER_MINUTE: "1000",
  });
});
after(() => relay[Symbol.asyncDispose]());

/** One Relay for all of it; a project and a proxy of its own for each promise. */
relayContract("Relay", async () => {
  const project = await relay.project();
  const proxy = await DroppingProxy.open(relay.port);
  const underTest: RelayUnderTest = {
    relayUrl: proxy.url,
    publishableKey: project.publishableKey,
    fetch: (url, init) => fetch(url, init),
    WebSocket,
    call: callTool,
    toolNames: async (mcpUrl) => {
      const { message } = await post(mcpUrl, { jsonrpc: "2.0", id: 1, method: "tools/list" });
      const tools = message["result"].tools as { readonly name: string }[];
      return tools.map(({ name }) => name);
    },
    act: async (linkId, action) => {
      await relay.rest("POST", `/v1/links/${linkId}/${action}`, project.secretKey, {});
    },
    suspend: async (suspended) => void (await project.change({ suspended })),
    drop: () => proxy.drop(),
    close: () => proxy.close(),
  };
  return underTest;
});

/** Calls a tool as a host of the first MCP generation does. */
async function callTool(
  mcpUrl: string,
  name: string,
  args: object,
  { signal, onProgress }: HostOptions = {},
): Promise<HostSees> {
  const meta = onProgress === undefined ? {} : { _meta: { progressToken: "p" } };
  const params = { name, arguments: args, ...meta };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const { message, messages } = await post(mcpUrl, body, {}, signal);
  for (const { method, params: progress } of messages) {
    if (method !== "notifications/progress") continue;
    const { progressToken: _, ...rest } = progress as JsonObject;
    onProgress?.(rest);
  }
  const { result, error } = message;
  if (error !== undefined) {
    return { isError: true, text: error.message, content: [], structuredContent: undefined };
  }
  const { content, structuredContent, isError = false } = result as JsonObject;
  const text = content.map((block: JsonObject) => block["text"] ?? "").join("");
  return { isError, text, content, structuredContent };
}
