import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Api, ApiContext, ApiDeps } from "./routes.ts";

const BUILT = fileURLToPath(new URL("../../../dashboard/dist", import.meta.url));

/** The addresses that the page's own router knows; all get the same document. */
const APP_PATHS = [
  "/",
  "/setup",
  "/sign-in",
  "/sign-up",
  "/invitation",
  "/forgot-password",
  "/reset-password",
  "/projects",
  "/projects/*",
  "/team",
  "/audit",
  "/account",
  "/operator",
  "/operator/*",
] as const;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join("; ");
const STRICT_TRANSPORT = "max-age=31536000";
/** An asset's name holds a hash of what is in it. */
const FOR_EVER = "public, max-age=31536000, immutable";

const ASSET_TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
};

type Asset = { readonly body: Buffer<ArrayBuffer>; readonly brotli: Buffer<ArrayBuffer> | null };

/** What a browser gets while there is no build. */
const NOT_BUILT = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Relay</title>
  </head>
  <body>
    <h1>Relay is running</h1>
    <p>Its dashboard has not been built. Hosts, apps and the REST API work without it.</p>
    <p>Build it with <code>npm run dashboard</code>, which needs the package registry the first
      time, then start Relay again.</p>
  </body>
</html>
`;

/**
 * The dashboard: a static build, read at the start and served from memory, so that a later build
 * never mixes with it. Assets are immutable; the document is asked for anew, since it names them.
 */
export function addPage(api: Api, { urls }: Pick<ApiDeps, "urls">, folder = BUILT): void {
  const isBuilt = existsSync(join(folder, "index.html"));
  const document = isBuilt ? readFileSync(join(folder, "index.html"), "utf8") : NOT_BUILT;
  const guarded = (context: ApiContext): void => {
    context.header("Content-Security-Policy", POLICY);
    if (urls.public.startsWith("https:")) {
      context.header("Strict-Transport-Security", STRICT_TRANSPORT);
    }
  };
  for (const path of APP_PATHS) {
    api.get(path, (context) => {
      guarded(context);
      context.header("Cache-Control", "no-cache");
      return context.body(fromDepth(document, context.req.path), 200, {
        "Content-Type": "text/html; charset=utf-8",
      });
    });
  }
  // A name that is not of the build never becomes a path.
  for (const [name, asset] of readAssets(isBuilt ? folder : null)) {
    api.get(`/${name}`, (context) => {
      guarded(context);
      return answerAsset(context, name, asset);
    });
  }
}

/**
 * The document names its assets from where it lies; deeper addresses need steps up. Steps, and no
 * absolute paths, since the public URL may have a prefix that is cut off before it gets here.
 */
function fromDepth(text: string, path: string): string {
  const steps = "../".repeat(path.split("/").length - 2);
  return steps === "" ? text : text.replaceAll('="./', `="${steps}`);
}

function readAssets(folder: string | null): ReadonlyMap<string, Asset> {
  if (folder === null) return new Map();
  const names = new Set(globSync("assets/*", { cwd: folder }));
  const read = (name: string): Buffer<ArrayBuffer> => readFileSync(join(folder, name));
  return new Map(
    [...names]
      .filter((name) => !name.endsWith(".br"))
      .map((name) => {
        const brotli = names.has(`${name}.br`) ? read(`${name}.br`) : null;
        return [name, { body: read(name), brotli }];
      }),
  );
}

function answerAsset(context: ApiContext, name: string, { body, brotli }: Asset): Response {
  const ending = name.slice(name.lastIndexOf(".") + 1);
  context.header("Cache-Control", FOR_EVER);
  context.header("Vary", "Accept-Encoding");
  context.header("Content-Type", ASSET_TYPES[ending] ?? "application/octet-stream");
  const takesBrotli = /\bbr\b(?!\s*;\s*q=0(?:\.0+)?\s*(?:,|$))/.test(
    context.req.header("accept-encoding") ?? "",
  );
  if (brotli === null || !takesBrotli) return context.body(body);
  context.header("Content-Encoding", "br");
  return context.body(brotli);
}
