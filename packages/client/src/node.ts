/** The client for Node, Deno and Bun: `fileStore` keeps the link in a file. */
export * from "./index.ts";
export { fileStore } from "./file-store.ts";
