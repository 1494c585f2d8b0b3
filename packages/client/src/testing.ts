/**
 * A Relay in memory, for the tests of an app: create links, connect with `createRelay`, call tools as
 * a host would, and make happen what happens to apps. It needs no server, no port and no network.
 */
export { FakeRelay } from "./testing/fake-relay.ts";
export type { FakeRelayOptions } from "./testing/fake-relay.ts";
export type { FakeLink } from "./testing/fake-link.ts";
export type { FakeAnswer, FakeCallOptions } from "./testing/fake-call.ts";
export { memoryStore } from "./link-store.ts";
