/**
 * The client for pages: `localStore` keeps the link for all tabs of the origin, of which one
 * connects. Electron's renderer is a page too.
 */
export * from "./index.ts";
export { localStore } from "./local-store.ts";
