/**
 * Builds the pages into `dist` (`npm run dashboard` in the root, or `npm start`): installs what it
 * needs if that is missing or outdated, builds if a source changed since, and fails if the first
 * load grew over its bound. `--force` builds in any case.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** Script that the browser loads before the first page shows, gzipped; 130 KB. */
const FIRST_LOAD_BYTES_MAX = 130 * 1024;
const here = import.meta.dirname;
const dist = join(here, "dist");

type Chunk = {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
};

process.exitCode = await main();

/** Returns the exit code. */
async function main(): Promise<number> {
  const hash = hashOfSources();
  if (!process.argv.includes("--force") && builtHash() === hash) return 0;
  process.stdout.write("Building the dashboard; this takes about 20 s, once.\n");
  if (!install()) return fail("its packages could not be installed");
  const startedMs = performance.now();
  // Inside of what is ignored anyway.
  const next = join(here, "node_modules", ".built");
  rmSync(next, { recursive: true, force: true });
  try {
    await bundle(next);
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
  const firstLoad = firstLoadBytes(next);
  if (firstLoad > FIRST_LOAD_BYTES_MAX) {
    return fail(
      `the first load is ${kilobytes(firstLoad)}, over ${kilobytes(FIRST_LOAD_BYTES_MAX)}`,
    );
  }
  compress(next);
  writeFileSync(join(next, "sources.sha256"), `${hash}\n`);
  // The folder is swapped whole, so that a server never serves half of a build.
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  process.stdout.write(
    `The dashboard is built in ${seconds} s; its first load is ${kilobytes(firstLoad)} of script.\n`,
  );
  return 0;
}

/** SHA-256 over the paths and contents of everything that a build is made of. */
function hashOfSources(): string {
  const files = globSync(
    ["src/**/*", "build.ts", "package-lock.json", "../protocol/src/**/*", "../client/src/hosts.*"],
    { cwd: here, withFileTypes: true },
  )
    .filter((entry) => entry.isFile() && !entry.name.includes(".test."))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${relative(here, file)}\0`).update(readFileSync(file));
  return hash.digest("hex");
}

function builtHash(): string | null {
  const file = join(dist, "sources.sha256");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : null;
}

/** Installs the packages that the lock file names, unless they are there. */
function install(): boolean {
  const kept = join(here, "node_modules", ".lock.sha256");
  const wanted = createHash("sha256")
    .update(readFileSync(join(here, "package-lock.json")))
    .digest("hex");
  if (existsSync(kept) && readFileSync(kept, "utf8") === wanted) return true;
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: here,
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      // What npm starts must find the Node that runs this.
      PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    },
  });
  if (status !== 0) return false;
  writeFileSync(kept, wanted);
  return true;
}

async function bundle(outDir: string): Promise<void> {
  const { build, defaultClientConditions } = await import("vite");
  const { default: tailwind } = await import("@tailwindcss/vite");
  await build({
    configFile: false,
    root: join(here, "src"),
    // Addresses within the build are relative: it is served under any path prefix.
    base: "./",
    logLevel: "error",
    plugins: [tailwind()],
    resolve: { conditions: ["relay-source", ...defaultClientConditions] },
    build: {
      outDir,
      emptyOutDir: true,
      manifest: true,
      target: "es2023",
      // The policy allows no inline data but images.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });
}

/** Gzipped bytes of the entry and of what it imports before anything shows. */
function firstLoadBytes(folder: string): number {
  const text = readFileSync(join(folder, ".vite", "manifest.json"), "utf8");
  // Vite's own file.
  const manifest = JSON.parse(text) as Readonly<Record<string, Chunk>>;
  const seen = new Set<string>();
  const open = Object.keys(manifest).filter((name) => manifest[name]?.isEntry === true);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    open.push(...(manifest[name]?.imports ?? []));
  }
  return [...seen]
    .map((name) => readFileSync(join(folder, manifest[name]?.file ?? "")))
    .reduce((bytes, script) => bytes + gzipSync(script).byteLength, 0);
}

/** Writes a brotli copy beside each asset, once, instead of compressing at each request. */
function compress(folder: string): void {
  for (const file of globSync("assets/*.{js,css}", { cwd: folder })) {
    const from = join(folder, file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    writeFileSync(`${from}.br`, brotliCompressSync(readFileSync(from), { params }));
  }
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`;
}

function fail(why: string): number {
  process.stderr.write(`The dashboard was not built: ${why}\n`);
  return 1;
}
