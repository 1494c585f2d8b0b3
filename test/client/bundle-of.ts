import assert from "node:assert/strict";
import { join } from "node:path";
import { loadPackage } from "./test-packages.ts";

const root = join(import.meta.dirname, "..", "..");

type Rolldown = {
  readonly rolldown: (options: object) => Promise<{
    generate(options: object): Promise<{ readonly output: readonly { readonly code: string }[] }>;
  }>;
};

/** The one file that an app's bundler makes of a module and all that it imports. */
export async function bundleOf(
  input: string,
  isMinified: boolean,
  options: object = {},
): Promise<string> {
  const { rolldown } = loadPackage("rolldown") as Rolldown;
  const built = await rolldown({
    input,
    cwd: root,
    platform: "browser",
    resolve: { conditionNames: ["relay-source", "import"] },
    onLog: (_level: string, log: { readonly message: string }) => {
      throw new Error(log.message);
    },
    ...options,
  });
  const { output } = await built.generate({ format: "esm", minify: isMinified });
  assert.equal(output.length, 1);
  return output[0]?.code ?? "";
}

/** The minified bundle of an app that is this module's text. */
export function bundleOfText(text: string): Promise<string> {
  const app = "\0app";
  return bundleOf(app, true, {
    plugins: [
      {
        name: "app",
        resolveId: (id: string) => (id === app ? app : null),
        load: (id: string) => (id === app ? text : null),
      },
    ],
  });
}
