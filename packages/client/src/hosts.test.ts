import assert from "node:assert/strict";
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
