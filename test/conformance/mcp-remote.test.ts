import assert from "node:assert/strict";
import { commandOf } from "./client-packages.ts";
import { ClientHome, runClient } from "./client-process.ts";
import { clientTest } from "./client-test.ts";
import { promisesTo } from "./host-promises.ts";
import type { HostSession } from "./host-promises.ts";
import { NOTES_TOOLS, connectNotes } from "./notes-app.ts";
import { RestartingRelay } from "./restarting-relay.ts";
import { openSdkV1, sdkV1Stdio } from "./sdk-v1.ts";

const OPTIONS = ["--allow-http", "--transport", "http-only"] as const;

promisesTo("mcp-remote's proxy", {
  open: openProxy,
  clientName: /^sdk-v1-test \(via mcp-remote /,
  showsProgress: true,
});

clientTest(
  "mcp-remote's client lists an app that is open, closed, restarted",
  async (opened, t) => {
    const relay = opened.use(await RestartingRelay.open());
    const app = await connectNotes(relay.link);
    await assertLists(relay.link.mcpUrl, t.signal);
    await app.close();
    await assertLists(relay.link.mcpUrl, t.signal);
    await relay.restart();
    await assertLists(relay.link.mcpUrl, t.signal);
  },
);

async function assertLists(mcpUrl: string, signal: AbortSignal): Promise<void> {
  const command = commandOf("mcp-remote", "mcp-remote-client");
  const run = await runClient(command, [mcpUrl, ...OPTIONS], signal);
  assert.equal(run.code, 0, run.stderr);
  const shown = /Tools: (\{.*?^\})/ms.exec(run.stderr)?.[1];
  assert.ok(shown !== undefined, run.stderr);
  const { tools } = JSON.parse(shown) as { readonly tools: readonly { readonly name: string }[] };
  assert.deepEqual(
    tools.map((tool) => tool.name),
    NOTES_TOOLS,
  );
}

/** Hosts that know only stdio start the proxy as their server; here SDK v1 is such a host. */
async function openProxy(mcpUrl: string): Promise<HostSession> {
  await using opening = new AsyncDisposableStack();
  const { path: cwd, env } = opening.use(new ClientHome());
  const args = [commandOf("mcp-remote", "mcp-remote"), mcpUrl, ...OPTIONS];
  const transport = sdkV1Stdio({ command: process.execPath, args, cwd, env });
  const session = opening.use(await openSdkV1(transport));
  const opened = opening.move();
  return {
    listTools: () => session.listTools(),
    callTool: (name, toolArgs, options) => session.callTool(name, toolArgs, options),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
