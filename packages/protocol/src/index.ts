/**
 * The facts both sides of Relay agree on, as tables: limits, outcomes and their texts, close codes,
 * error codes, frames and their parsers, token shapes. Runs anywhere and depends on nothing.
 * What only one side needs to know does not belong here.
 */
export * from "./app-limits.ts";
export * from "./brand.ts";
export * from "./close-codes.ts";
export * from "./errors.ts";
export * from "./frame-schemas.ts";
export * from "./frames.ts";
export * from "./limits.ts";
export * from "./mcp-versions.ts";
export * from "./outcomes.ts";
export * from "./tokens.ts";
