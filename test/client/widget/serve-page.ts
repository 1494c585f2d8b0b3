import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { bundleOf } from "../bundle-of.ts";

const here = import.meta.dirname;

/** The strictest policy under which a page can have scripts and styles at all. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/** Serves the widget's test page, bundled as an app's would be, on a free port of this computer. */
export async function serveWidgetPage(): Promise<{
  readonly url: string;
  readonly close: () => Promise<void>;
}> {
  const files: Readonly<Record<string, readonly [string, string | Buffer]>> = {
    "/": ["text/html", await readFile(join(here, "page.html"))],
    "/page.css": ["text/css", await readFile(join(here, "page.css"))],
    "/page.js": ["text/javascript", await bundleOf(join(here, "page.js"), false)],
    "/axe.js": [
      "text/javascript",
      await readFile(join(here, "..", "node_modules", "axe-core", "axe.min.js")),
    ],
  };
  const server = createServer((request, response) => {
    const [type, body] = files[request.url ?? ""] ?? ["text/plain", null];
    response.writeHead(body === null ? 404 : 200, {
      "Content-Type": `${type}; charset=utf-8`,
      "Content-Security-Policy": POLICY,
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "localhost", resolve);
  });
  // A server on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
