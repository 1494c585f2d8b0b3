/** Makes `import "electron"` find the stand-in of this folder. */
import { registerHooks } from "node:module";

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "electron"
      ? { url: new URL("electron.ts", import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});
