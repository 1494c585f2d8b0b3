import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { hostWays } from "./hosts.ts";

const MCP_URL = "https://relay.test/v1/mcp/ut_8Hq3Lm2Vx7Tc9Rb4Nw1Ks6Jd5Yf0Pg2E";
const ways = hostWays("Anna's Notes", MCP_URL);
const way = (id: string) => ways.find((one) => one.id === id);

test("each host has a way that a person can take", () => {
  for (const { name, steps, command, link } of ways) {
    assert.ok(steps ?? command ?? link, name);
  }
});

test("a link is of the host's own scheme, and holds the URL so that the host finds it", () => {
  const cursor = new URL(String(way("cursor")?.link));
  assert.equal(cursor.protocol, "cursor:");
  assert.deepEqual(JSON.parse(atob(String(cursor.searchParams.get("config")))), { url: MCP_URL });
  const vscode = String(way("vscode")?.link);
  assert.ok(vscode.startsWith("vscode:mcp/install?"));
  assert.deepEqual(JSON.parse(decodeURIComponent(vscode.split("?")[1] ?? "")), {
    name: "Anna's Notes",
    type: "http",
    url: MCP_URL,
  });
  for (const { link } of ways) assert.doesNotMatch(link ?? "", /^https?:/);
});

test("a command is one line that a shell reads as it is meant", () => {
  assert.equal(
    way("claude-code")?.command,
    `claude mcp add --transport http anna-s-notes ${MCP_URL}`,
  );
  assert.equal(
    way("vscode")?.command,
    `code --add-mcp '{"name":"Anna'\\''s Notes","type":"http","url":"${MCP_URL}"}'`,
  );
});

test("a name that looks like a place to fill in stays as it is", () => {
  const odd = "{url} $& {json}";
  const link = hostWays(odd, MCP_URL).find(({ id }) => id === "vscode")?.link ?? "";
  const config = JSON.parse(decodeURIComponent(link.split("?")[1] ?? ""));
  assert.deepEqual(config, { name: odd, type: "http", url: MCP_URL });
});

test("a name without Latin letters still gives a name that hosts take", () => {
  const command = hostWays("Заметки", MCP_URL).find(({ id }) => id === "claude-code")?.command;
  assert.equal(command, `claude mcp add --transport http app ${MCP_URL}`);
  const accents = hostWays("Kapitäns Café", MCP_URL).find(({ id }) => id === "claude-code");
  assert.equal(accents?.command, `claude mcp add --transport http kapitans-cafe ${MCP_URL}`);
});

test("hosts in the cloud reach a public https address, those on the device every one", () => {
  const reached = (url: string): string[] =>
    hostWays("Notes", url).flatMap(({ id, reaches }) => (reaches ? id : []));
  assert.deepEqual(reached(MCP_URL), ["claude", "claude-code", "chatgpt", "cursor", "vscode"]);
  for (const url of ["http://localhost:8787/x", "http://relay.test.example/x"]) {
    assert.deepEqual(reached(url), ["claude-code", "cursor", "vscode"]);
  }
});

test("the README and the documentation name the same hosts, with the same words", () => {
  const root = join(import.meta.dirname, "..", "..", "..");
  for (const page of ["README.md", "docs/site/src/content/docs/hosts.md"]) {
    const text = readFileSync(join(root, page), "utf8");
    for (const { name, steps, command, link } of hostWays("notes", "URL")) {
      const row = new RegExp(`^\\| ${name} \\| (.*) \\|$`, "m").exec(text)?.[1] ?? "";
      const how = steps ?? (command === null ? null : `\`${command}\``);
      if (how !== null) assert.equal(row, how, `${page}: ${name}`);
      else assert.ok(link !== null && row !== "", `${page}: ${name}`);
    }
  }
});
