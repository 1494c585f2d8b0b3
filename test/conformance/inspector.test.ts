import assert from "node:assert/strict";
import { commandOf } from "./client-packages.ts";
import { runClient } from "./client-process.ts";
import type { ClientRun } from "./client-process.ts";
import { clientTest } from "./client-test.ts";
import { promisesTo, readToolAnswer } from "./host-promises.ts";
import type { HostSession } from "./host-promises.ts";
import { NOTES_TOOLS, connectNotes } from "./notes-app.ts";
import { RestartingRelay } from "./restarting-relay.ts";

/** What the Inspector exits with when a tool's result is an error. */
const TOOL_ERROR_EXIT = 5;

promisesTo("MCP Inspector", {
  open: (mcpUrl) => Promise.resolve(inspect(mcpUrl)),
  clientName: /inspector/,
  showsProgress: false,
});

clientTest("MCP Inspector speaks 2026-07-28 when asked to", async (opened) => {
  const relay = opened.use(await RestartingRelay.open());
  await connectNotes(relay.link);
  const session = opened.use(inspect(relay.link.mcpUrl, ["--protocol-era", "modern"]));
  assert.deepEqual(await session.listTools(), NOTES_TOOLS);
  const { text } = await session.callTool("notes_of_city", { city: "Zürich" });
  assert.equal(text, "notes of Zürich");
});

/** Each request is a process of its own; the end of the session kills what still runs. */
function inspect(mcpUrl: string, options: readonly string[] = []): HostSession {
  const ended = new AbortController();
  const run = (args: readonly string[], stop = ended.signal): Promise<ClientRun> =>
    runClient(
      commandOf("@modelcontextprotocol/inspector", "mcp-inspector"),
      ["--cli", mcpUrl, "--transport", "http", ...options, ...args],
      AbortSignal.any([ended.signal, stop]),
    );
  return {
    listTools: async () => {
      const listed = await run(["--method", "tools/list"]);
      assert.equal(listed.code, 0, listed.stderr);
      const { tools } = JSON.parse(listed.stdout) as {
        readonly tools: readonly { readonly name: string }[];
      };
      return tools.map((tool) => tool.name);
    },
    callTool: async (name, args = {}, { signal } = {}) => {
      const call = ["--method", "tools/call", "--tool-name", name];
      const called = await run([...call, "--tool-args-json", JSON.stringify(args)], signal);
      signal?.throwIfAborted();
      assert.ok(called.code === 0 || called.code === TOOL_ERROR_EXIT, called.stderr);
      const answer = readToolAnswer(JSON.parse(called.stdout));
      assert.equal(answer.isError, called.code === TOOL_ERROR_EXIT);
      return answer;
    },
    [Symbol.asyncDispose]: () => {
      ended.abort();
      return Promise.resolve();
    },
  };
}
