/**
 * Serves the notes page with the client's own sources, types stripped: no bundler, no build.
 * `node serve.ts PUBLISHABLE_KEY` (RELAY_PUBLIC_URL and PORT have defaults).
 */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import process from "node:process";

const { RELAY_PUBLIC_URL: relayUrl = "http://localhost:8787", PORT = "5173" } = process.env;
const [, , publishableKey = ""] = process.argv;

const here = import.meta.dirname;
const FOLDERS = {
  client: join(here, "..", "src"),
  protocol: join(here, "..", "..", "protocol", "src"),
};
const TYPES = new Map([
  [".html", "text/html"],
  [".js", "text/javascript"],
  [".ts", "text/javascript"],
]);

/** The body of a path, and its type by the path's ending; null where there is nothing. */
async function bodyOf(path: string): Promise<string | null> {
  if (path === "/settings.json") return JSON.stringify({ relayUrl, publishableKey });
  const [, folder, file = ""] = /^\/(client|protocol)\/(.+)$/.exec(path) ?? [];
  const at =
    folder === "client" || folder === "protocol"
      ? join(FOLDERS[folder], file)
      : join(here, path === "/" ? "notes.html" : path);
  const text = await readFile(at, "utf8").catch(() => null);
  return text === null || extname(at) !== ".ts" ? text : stripTypeScriptTypes(text);
}

async function answer(url: string, response: ServerResponse): Promise<void> {
  // What is left of a path once it is normal can't lead out of a folder.
  const path = normalize(new URL(url, "http://localhost").pathname);
  const body = await bodyOf(path);
  const ending = path === "/" ? ".html" : extname(path);
  const type = TYPES.get(ending) ?? "application/json";
  response.writeHead(body === null ? 404 : 200, { "Content-Type": `${type}; charset=utf-8` });
  response.end(body ?? "nothing here");
}

const server = createServer((request, response) => void answer(request.url ?? "/", response));
server.listen(Number(PORT), "localhost", () => {
  // A server on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`http://localhost:${port}\n`);
});
