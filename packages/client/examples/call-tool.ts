/**
 * Calls a tool as an AI host does, with the official MCP client:
 * `node call-tool.ts MCP_URL TOOL name=value …`. Without a tool it lists them.
 */
import process from "node:process";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [, , mcpUrl = "", name, ...pairs] = process.argv;

const client = new Client({ name: "call-tool", version: "1.0.0" });
try {
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)));
  const { tools } = await client.listTools();
  const tool = tools.find((one) => one.name === name);
  if (name === undefined) {
    for (const one of tools) process.stdout.write(`${one.name}  ${one.description ?? ""}\n`);
  } else {
    const properties = tool?.inputSchema.properties ?? {};
    const args = Object.fromEntries(pairs.map((pair) => argumentOf(pair, properties)));
    const { content, isError = false } = await client.callTool({ name, arguments: args });
    for (const block of content) {
      process.stdout.write(`${block.type === "text" ? block.text : JSON.stringify(block)}\n`);
    }
    process.exitCode = isError ? 1 : 0;
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
await client.close();

/** Reads `name=value`: a value is text where the tool's schema says so, and JSON elsewhere. */
function argumentOf(pair: string, properties: Readonly<Record<string, unknown>>) {
  const [key = "", text = ""] = pair.split(/=(.*)/s);
  const isText = Object(properties[key]).type === "string";
  return [key, isText ? text : (JSON.parse(text) as unknown)] as const;
}
