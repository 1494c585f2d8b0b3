/** What Relay promises to every MCP client, as tests that each client's file runs with its client. */
import assert from "node:assert/strict";
import { clientTest } from "./client-test.ts";
import { NOTES_TOOLS, connectNotes, textResult } from "./notes-app.ts";
import { RestartingRelay } from "./restarting-relay.ts";

export type Host = {
  /** Opens a conversation with the server at an MCP URL. */
  readonly open: (mcpUrl: string) => Promise<HostSession>;
  /** How the host names itself to servers. */
  readonly clientName: RegExp;
  /** Whether it shows the progress of a call. */
  readonly showsProgress: boolean;
};

export interface HostSession extends AsyncDisposable {
  listTools(): Promise<readonly string[]>;
  /** Rejects when the server answers with a protocol error, or when `signal` is aborted. */
  callTool(name: string, args?: object, options?: CallOptions): Promise<ToolAnswer>;
}

export type CallOptions = {
  readonly onProgress?: (progress: unknown) => void;
  readonly signal?: AbortSignal;
  /** Gives up after this time in which no progress came. */
  readonly silenceMs?: number;
};

/** A tool's result, as the host's program sees it. */
export type ToolAnswer = {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: unknown;
};

/** Reads a client's `CallToolResult`. */
export function readToolAnswer(result: unknown): ToolAnswer {
  // The client has checked the shape; its type is not at hand here.
  const { content, isError, structuredContent } = result as {
    readonly content: readonly { readonly text?: string }[];
    readonly isError?: boolean;
    readonly structuredContent?: unknown;
  };
  return {
    isError: isError === true,
    text: content.map((block) => block.text ?? "").join("\n"),
    structured: structuredContent,
  };
}

const OFFLINE: ToolAnswer = {
  isError: true,
  text: "Notes is not running on your device. Open it and try again.",
  structured: undefined,
};

const PROGRESS = [
  { progress: 0, total: 2 },
  { progress: 1, total: 2, message: "half of the notes" },
  { progress: 2, total: 2 },
] as const;

/** Registers the tests of one host. */
export function promisesTo(name: string, host: Host): void {
  clientTest(`${name} lists the app's tools and calls them`, async (opened) => {
    const relay = opened.use(await RestartingRelay.open());
    await connectNotes(relay.link);
    const session = opened.use(await host.open(relay.link.mcpUrl));
    assert.deepEqual(await session.listTools(), NOTES_TOOLS);
    const found = await session.callTool("search_notes", { query: 'Zürich "✓"\n' });
    assert.deepEqual(found, plain('searched for Zürich "✓"\n'));
    const counted = await session.callTool("count_notes");
    assert.deepEqual(counted, { isError: false, text: "3 notes", structured: { count: 3 } });
    const failed = await session.callTool("delete_note");
    assert.deepEqual(failed, { ...plain("There is no such note."), isError: true });
    const mirrored = await session.callTool("notes_of_city", { city: "Zürich" });
    assert.deepEqual(mirrored, plain("notes of Zürich"));
    const rows = await relay.project.calls();
    const outcomes = rows.map((row) => row["outcome"]);
    assert.deepEqual(outcomes, ["ok", "ok", "ok", "ok"]);
    for (const row of rows) assert.match(row["client"].name, host.clientName);
  });

  clientTest(`${name} lists an app that has closed, and is told to open it`, async (opened) => {
    const relay = opened.use(await RestartingRelay.open());
    const app = await connectNotes(relay.link);
    const session = opened.use(await host.open(relay.link.mcpUrl));
    await app.close();
    assert.deepEqual(await session.listTools(), NOTES_TOOLS);
    assert.deepEqual(await session.callTool("search_notes", { query: "x" }), OFFLINE);
  });

  clientTest(`${name} keeps its URL over a restart of Relay`, async (opened) => {
    const relay = opened.use(await RestartingRelay.open());
    await connectNotes(relay.link);
    const session = opened.use(await host.open(relay.link.mcpUrl));
    await relay.restart();
    assert.deepEqual(await session.listTools(), NOTES_TOOLS);
    assert.deepEqual(await session.callTool("search_notes", { query: "x" }), OFFLINE);
    await connectNotes(relay.link);
    const later = opened.use(await host.open(relay.link.mcpUrl));
    const found = await later.callTool("search_notes", { query: "x" });
    assert.deepEqual(found, plain("searched for x"));
  });

  clientTest(`${name} stops a call, and the app is told`, async (opened) => {
    const relay = opened.use(await RestartingRelay.open());
    const app = await connectNotes(relay.link);
    const session = opened.use(await host.open(relay.link.mcpUrl));
    const stop = new AbortController();
    const stopped = assert.rejects(session.callTool("watch_notes", {}, { signal: stop.signal }));
    const call = await app.next("call");
    stop.abort();
    const cancel = await app.next("cancel");
    assert.equal(cancel["id"], call["id"]);
    await stopped;
  });

  if (host.showsProgress) promiseOfProgress(name, host);
}

function promiseOfProgress(name: string, host: Host): void {
  clientTest(`${name} is shown the progress that the app reports`, async (opened) => {
    const relay = opened.use(await RestartingRelay.open());
    const app = await connectNotes(relay.link);
    const session = opened.use(await host.open(relay.link.mcpUrl));
    const shown: unknown[] = [];
    const answer = session.callTool(
      "watch_notes",
      {},
      {
        onProgress: (progress) => {
          shown.push(progress);
          if (shown.length === PROGRESS.length) app.send(textResult(call, "done"));
        },
      },
    );
    const call = await app.next("call");
    for (const step of PROGRESS) app.send({ type: "progress", id: call["id"], ...step });
    assert.deepEqual(await answer, plain("done"));
    assert.deepEqual(shown, PROGRESS);
  });
}

/** Registers the tests of a host whose errors and time-outs can be seen and set: an SDK. */
export function promisesToSdk(name: string, host: Host, era: "legacy" | "modern"): void {
  clientTest(`${name} is told what is wrong with a call`, async (opened) => {
    const relay = opened.use(await RestartingRelay.open());
    await connectNotes(relay.link);
    const session = opened.use(await host.open(relay.link.mcpUrl));
    const unknown = session.callTool("no_such_tool");
    await assert.rejects(unknown, { code: -32602, message: /no_such_tool/ });
    const fault = "arguments must have required property 'query'";
    const invalid = session.callTool("search_notes");
    if (era === "legacy") {
      await assert.rejects(invalid, { code: -32602, message: new RegExp(fault) });
      return;
    }
    const { isError, text } = await invalid;
    assert.equal(isError, true);
    assert.ok(text.includes(fault), text);
  });

  clientTest(`${name} waits past its time-out for an app that is silent`, async (opened) => {
    const relay = opened.use(await RestartingRelay.open({ RELAY_KEEP_ALIVE_SECONDS: "0.2" }));
    const app = await connectNotes(relay.link);
    const session = opened.use(await host.open(relay.link.mcpUrl));
    const silenceMs = 2_000;
    const startedAt = performance.now();
    const answer = session.callTool(
      "watch_notes",
      {},
      {
        silenceMs,
        // Relay's own signs of life: the app says nothing until the client would have given up.
        onProgress: () => {
          if (performance.now() - startedAt > silenceMs) app.send(textResult(call, "at last"));
        },
      },
    );
    const call = await app.next("call");
    assert.deepEqual(await answer, plain("at last"));
  });
}

function plain(text: string): ToolAnswer {
  return { isError: false, text, structured: undefined };
}
