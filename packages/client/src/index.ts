/**
 * The app's side of Relay, for every runtime: keeps one link connected and answers its calls. What
 * belongs to one runtime has a door of its own (`browser`, `node`, `electron`, `react-native`).
 */
export type { BeforeRun, CallEvent, CallStatus, Verdict } from "./call-runner.ts";
export type { Reason } from "./core/link-keeper.ts";
export { memoryStore, parseLinkRecord } from "./link-store.ts";
export type { LinkRecord, LinkStore } from "./link-store.ts";
export { RelayError } from "./relay-error.ts";
export { createRelay } from "./relay.ts";
export type { Relay, RelayEvents, RelayOptions, RelayState } from "./relay.ts";
export type { StandardSchema } from "./standard-schema.ts";
export { tool } from "./tool.ts";
export type { CallContext, Tool, ToolAnnotations, ToolDefinition, ToolSpec } from "./tool.ts";
export type { ContentBlock, ToolResult } from "./tool-result.ts";
