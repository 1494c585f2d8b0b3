import { readFile } from "node:fs/promises";
import type { Api } from "./routes.ts";

const FILES = {
  "/": { file: "index.html", type: "text/html; charset=utf-8" },
  "/style.css": { file: "style.css", type: "text/css; charset=utf-8" },
} as const;

const POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The page a person sees who opens this Relay in a browser. */
export function addPage(api: Api): void {
  for (const [path, { file, type }] of Object.entries(FILES)) {
    const source = new URL(`../../../dashboard/src/${file}`, import.meta.url);
    api.get(path, async (context) =>
      context.body(await readFile(source, "utf8"), 200, {
        "Content-Type": type,
        "Content-Security-Policy": POLICY,
      }),
    );
  }
}
