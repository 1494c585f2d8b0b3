/** MCP servers that others wrote, as apps of a real Relay, called by the official MCP clients. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { memoryStore } from "@relay/client";
import { connectCommand, fromMcpServer, openBridge } from "@relay/client/bridge";
import type { Bridge, BridgeOptions, McpSdk } from "@relay/client/bridge";
import { callTool, openRelay, post, textOf } from "../e2e/harness.ts";
import type { JsonObject, TestRelay } from "../e2e/harness.ts";
import { officialHost } from "./official-host.ts";
import { SKIPPED, commandPath, loadPackage } from "./test-packages.ts";

const skip = SKIPPED;
let relay: TestRelay;
let sdk: McpSdk;
before(async () => {
  if (skip !== false) return;
  relay = await openRelay({ RELAY_LINKS_PER_IP_PER_MINUTE: "1000" });
  sdk = {
    ...(loadPackage("@modelcontextprotocol/client") as McpSdk),
    ...(loadPackage("@modelcontextprotocol/client/stdio") as McpSdk),
  };
});
after(async () => {
  if (skip === false) await relay[Symbol.asyncDispose]();
});

type Wanted = Pick<BridgeOptions, "transport">;

/** A bridge that is online, and the notes it made. */
async function bridgeTo(
  wanted: Wanted,
): Promise<{ readonly bridge: Bridge; readonly notes: string[] }> {
  const notes: string[] = [];
  const bridge = await openBridge({ ...(await options(notes)), ...wanted });
  await bridge.relay.start();
  return { bridge, notes };
}

async function options(notes: string[]): Promise<Omit<BridgeOptions, "transport">> {
  const { publishableKey } = await relay.project();
  return {
    sdk,
    relayUrl: relay.url,
    publishableKey,
    store: memoryStore(),
    onNote: (note) => notes.push(note),
  };
}

/** Runs one of the official servers; `pid` is that of its last process. */
function stdio(command: string, ...args: string[]): Wanted & { pid(): number } {
  let last: { readonly pid?: number } = {};
  return {
    transport: () => {
      const { PATH = "", HOME = "" } = process.env;
      const node = process.execPath;
      const all = [commandPath(command), ...args];
      const made = new sdk.StdioClientTransport({
        command: node,
        args: all,
        env: { PATH, HOME },
        stderr: "inherit",
      });
      last = made;
      return made;
    },
    pid: () => Number(last.pid),
  };
}

const mcpUrlOf = ({ relay: { mcpUrl } }: Bridge): string => String(mcpUrl);

/** Resolves when a note says it. */
async function noted(notes: readonly string[], what: RegExp): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    if (notes.some((note) => what.test(note))) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  throw new Error(`not noted: ${what} in ${notes.join(" | ")}`);
}

for (const generation of ["v1", "v2"] as const) {
  test(
    `server-everything lists, calls, reports progress and is cancelled, through the SDK's ${generation}`,
    { skip },
    async () => {
      const { bridge } = await bridgeTo(stdio("mcp-server-everything", "stdio"));
      const { client, call } = await officialHost(generation, mcpUrlOf(bridge));
      const { tools } = await client.listTools();
      assert.ok(tools.length > 5, tools.map(({ name }) => name).join());
      const echoed = await call({ name: "echo", arguments: { message: "tulips" } });
      assert.equal(echoed["content"][0].text, "Echo: tulips");
      const steps: number[] = [];
      const long = { name: "trigger-long-running-operation", arguments: { duration: 1, steps: 4 } };
      await call(long, {
        onprogress: ({ progress }: { progress: number }) => steps.push(progress),
      });
      assert.deepEqual(steps.slice(0, 3), [1, 2, 3]);
      const statuses: string[] = [];
      const cancelled = new Promise<void>((resolve) => {
        bridge.relay.on("call", ({ status }) => {
          statuses.push(status);
          if (status === "cancelled") resolve();
        });
      });
      const stop = new AbortController();
      const forever = { name: long.name, arguments: { duration: 60, steps: 60 } };
      const running = call(forever, { signal: stop.signal });
      setTimeout(() => stop.abort(), 200);
      await assert.rejects(running);
      await cancelled;
      assert.deepEqual(statuses, ["running", "cancelled"]);
      await client.close();
      await bridge.stop();
    },
  );

  test(
    `server-filesystem lists and reads files, through the SDK's ${generation}`,
    { skip },
    async (t) => {
      const folder = await mkdtemp(join(tmpdir(), "relay-files-"));
      t.after(() => rm(folder, { recursive: true }));
      await writeFile(join(folder, "note.txt"), "Plant the tulips");
      const { bridge } = await bridgeTo(stdio("mcp-server-filesystem", folder));
      const { client, call } = await officialHost(generation, mcpUrlOf(bridge));
      const { tools } = await client.listTools();
      assert.ok(tools.some(({ name }) => name === "read_text_file"));
      const path = join(folder, "note.txt");
      const read = await call({ name: "read_text_file", arguments: { path } });
      assert.equal(read["content"][0].text, "Plant the tulips");
      const refused = await call({ name: "read_text_file", arguments: { path: "/etc/passwd" } });
      assert.equal(refused["isError"], true);
      await client.close();
      await bridge.stop();
    },
  );
}

test(
  "a child that is killed gives errors that say so, and the bridge recovers",
  { skip },
  async () => {
    const server = stdio("mcp-server-everything", "stdio");
    const { bridge, notes } = await bridgeTo(server);
    const running = callTool(mcpUrlOf(bridge), "trigger-long-running-operation", {
      duration: 60,
      steps: 2,
    });
    await new Promise<void>((resolve) => {
      bridge.relay.on("call", ({ status }) => status === "running" && resolve());
    });
    process.kill(server.pid(), "SIGKILL");
    assert.match(textOf(await running), /stopped while it ran the tool; it may or may not have/);
    const meanwhile = await callTool(mcpUrlOf(bridge), "echo", { message: "hi" });
    assert.match(textOf(meanwhile), /is not running; it is being started again/);
    await noted(notes, /it is back/);
    const again = await callTool(mcpUrlOf(bridge), "echo", { message: "hi" });
    assert.equal(textOf(again), "Echo: hi");
    assert.match(notes.join("\n"), /^it stopped; again in (?:0\.\d|1\.0) s$/m);
    await bridge.stop();
  },
);

test(
  "a server that starts and then can't list its tools is left, not left running",
  { skip },
  async () => {
    const { Server } = loadPackage("@modelcontextprotocol/sdk/server/index.js") as {
      readonly Server: new (info: object, more: object) => LowServer;
    };
    const types = loadPackage("@modelcontextprotocol/sdk/types.js") as JsonObject;
    const server = new Server({ name: "Odd", version: "1" }, { capabilities: { tools: {} } });
    const closed = new Promise<void>((resolve) => {
      Object.assign(server, { onclose: resolve });
    });
    server.setRequestHandler(types["ListToolsRequestSchema"], () => {
      throw new Error("the index is broken");
    });
    const given = await options([]);
    await assert.rejects(fromMcpServer(server, given), /the index is broken/);
    await closed;
  },
);

test("a server over HTTP is called, and found again when it was gone", { skip }, async () => {
  const port = await freePort();
  const serve = (): ReturnType<typeof spawn> =>
    spawn(process.execPath, [commandPath("mcp-server-everything"), "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: "ignore",
    });
  let child = serve();
  await listening(port);
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const { bridge, notes } = await bridgeTo({
    transport: () => new sdk.StreamableHTTPClientTransport(url),
  });
  const call = (): ReturnType<typeof callTool> =>
    callTool(mcpUrlOf(bridge), "echo", { message: "hi" });
  assert.equal(textOf(await call()), "Echo: hi");
  const gone = new Promise((resolve) => {
    child.on("close", resolve);
  });
  child.kill("SIGKILL");
  await gone;
  assert.equal((await call()).message["result"].isError, true);
  child = serve();
  await noted(notes, /it is back/);
  assert.equal(textOf(await call()), "Echo: hi");
  await bridge.stop();
  child.kill();
});

test(
  "a server that can't be started the first time is an error, not a bridge",
  { skip },
  async () => {
    const transport = (): object =>
      new sdk.StdioClientTransport({
        command: "/no/such/command",
        args: [],
        env: {},
        stderr: "inherit",
      });
    await assert.rejects(async () => openBridge({ ...(await options([])), transport }), /ENOENT/);
  },
);

/** The official SDK's server without its own ideas of tools. */
type LowServer = {
  connect(transport: object): Promise<void>;
  setRequestHandler(schema: unknown, handle: () => object): void;
};

type ServerModule = {
  readonly McpServer: new (
    info: object,
    more?: object,
  ) => {
    connect(transport: object): Promise<void>;
    registerTool(
      name: string,
      config: object,
      run: (...args: never[]) => unknown,
    ): { remove(): void };
  };
};

for (const [generation, specifier] of [
  ["v1", "@modelcontextprotocol/sdk/server/mcp.js"],
  ["v2", "@modelcontextprotocol/server"],
] as const) {
  test(
    `an McpServer of the SDK's ${generation} in the same process is an app, and so are its later tools`,
    { skip },
    async () => {
      const { McpServer } = loadPackage(specifier) as ServerModule;
      const server = new McpServer(
        { name: "Garden", version: "2.0" },
        { instructions: "Water before noon." },
      );
      const answer = (text: string) => () => ({ content: [{ type: "text", text }] });
      server.registerTool("water", { description: "Waters the plants" }, answer("Watered."));
      const notes: string[] = [];
      const bridge = await fromMcpServer(server, await options(notes));
      await bridge.relay.start();
      const url = mcpUrlOf(bridge);
      assert.equal(textOf(await callTool(url, "water", {})), "Watered.");
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} };
      const hello = await post(url, { jsonrpc: "2.0", id: 1, method: "initialize", params });
      assert.equal(hello.message["result"].instructions, "Water before noon.");
      const reconnected = new Promise<void>((resolve) => {
        bridge.relay.on("state", ({ status }) => status === "online" && resolve());
      });
      server.registerTool("plant a tree!", { description: "Plants one" }, answer("Planted."));
      await reconnected;
      assert.equal(textOf(await callTool(url, "plant_a_tree_", {})), "Planted.");
      assert.deepEqual(notes, ["plant a tree! is called plant_a_tree_ here"]);
      await bridge.stop();
    },
  );
}

test("a tool whose schema Relay refuses is left out, and the others go on", { skip }, async () => {
  const { Server } = loadPackage("@modelcontextprotocol/sdk/server/index.js") as {
    readonly Server: new (info: object, more: object) => LowServer;
  };
  const types = loadPackage("@modelcontextprotocol/sdk/types.js") as JsonObject;
  const server = new Server({ name: "Odd", version: "1" }, { capabilities: { tools: {} } });
  const properties = { a: { type: "string", pattern: "(?<=a)b" } };
  server.setRequestHandler(types["ListToolsRequestSchema"], () => ({
    tools: [
      { name: "odd", description: "x", inputSchema: { type: "object", properties } },
      { name: "fine", description: "x", inputSchema: { type: "object" } },
    ],
  }));
  server.setRequestHandler(types["CallToolRequestSchema"], () => ({
    content: [{ type: "text", text: "fine" }],
  }));
  const notes: string[] = [];
  const bridge = await fromMcpServer(server, await options(notes));
  await bridge.relay.start();
  assert.equal(textOf(await callTool(mcpUrlOf(bridge), "fine", {})), "fine");
  assert.match(notes.join(), /^odd is left out: inputSchema/);
  await bridge.stop();
});

/** Runs `relay connect` until `stop`; `line` waits for a line that it prints or warns of. */
function connect(home: string, ...argv: string[]) {
  const lines: string[] = [];
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const { PATH } = process.env;
  const ended = connectCommand(argv, {
    env: { PATH, HOME: home },
    print: (line) => lines.push(line),
    warn: (line) => lines.push(line),
    stopped,
    loadSdk: () => Promise.resolve(sdk),
  });
  const line = async (what: RegExp): Promise<string> => {
    await noted(lines, what);
    return lines.find((one) => what.test(one)) ?? "";
  };
  return { lines, line, stop, ended };
}

test(
  "relay connect prints the URL, how to use it and a line per call, and has the same URL again",
  { skip },
  async (t) => {
    const home = await mkdtemp(join(tmpdir(), "relay-connect-"));
    t.after(() => rm(home, { recursive: true }));
    const { publishableKey } = await relay.project();
    const server = ["--", process.execPath, commandPath("mcp-server-everything"), "stdio"];
    const own = ["--relay", relay.url, `--key=${publishableKey}`];
    const urls: string[] = [];
    for (const more of [[], [], ["--new-link"]]) {
      const command = connect(home, ...own, ...more, ...server);
      const [mcpUrl = ""] = /http\S+/.exec(await command.line(/MCP URL/)) ?? [];
      assert.ok(await command.line(/Claude Code +claude mcp add --transport http mcp-server http/));
      // The Relay of this test is on this computer.
      assert.ok(await command.line(/ChatGPT +needs a Relay with a public https URL/));
      assert.equal(textOf(await callTool(mcpUrl, "echo", { message: "hi" })), "Echo: hi");
      assert.match(await command.line(/echo done/), /^\d\d:\d\d:\d\d {2}echo done$/);
      command.stop();
      assert.equal(await command.ended, 0);
      urls.push(mcpUrl);
    }
    assert.equal(urls[0], urls[1]);
    assert.notEqual(urls[1], urls[2]);
  },
);

test("relay connect says what is wrong, and ends with 1", { skip }, async (t) => {
  const home = await mkdtemp(join(tmpdir(), "relay-connect-"));
  t.after(() => rm(home, { recursive: true }));
  const wrong: [string[], RegExp][] = [
    [[], /a publishable key is missing/],
    [["--key", "pk_x"], /say which server/],
    [["--key", "pk_x", "--url", "http://localhost:1", "--", "x"], /say which server/],
    [["--key", "pk_x", "--url", "nonsense"], /nonsense is no URL/],
    [["--key", "pk_x", "--verbose", "--", "x"], /unknown argument --verbose/],
    [["--key", "pk_x", "--", "/no/such/command"], /ENOENT/],
    [
      [
        "--relay",
        relay.url,
        "--key",
        "pk_x",
        "--",
        process.execPath,
        commandPath("mcp-server-everything"),
        "stdio",
      ],
      /closed: Missing or invalid publishable key/,
    ],
  ];
  for (const [argv, what] of wrong) {
    const command = connect(home, ...argv);
    assert.equal(await command.ended, 1, argv.join(" "));
    assert.match(command.lines.join("\n"), what);
  }
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  // A server on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

/** Resolves when something listens on the port. */
async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const answers = await fetch(`http://127.0.0.1:${port}/mcp`).then(
      () => true,
      () => false,
    );
    if (answers) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
  throw new Error("the server did not start");
}
