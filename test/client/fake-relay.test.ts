import { FakeRelay } from "@relay/client/testing";
import type { FakeLink } from "@relay/client/testing";
import { CONTRACT_LIMITS, relayContract } from "./relay-contract.ts";
import type { RelayUnderTest } from "./relay-contract.ts";

relayContract("FakeRelay", () =>
  Promise.resolve(underTest(new FakeRelay({ limits: CONTRACT_LIMITS }))),
);

function underTest(fake: FakeRelay): RelayUnderTest {
  const link = (holds: (one: FakeLink) => boolean): FakeLink => {
    const found = fake.links.find(holds);
    if (found === undefined) throw new Error("there is no such link");
    return found;
  };
  const { fetch, WebSocket, publishableKey } = fake;
  return {
    relayUrl: fake.url,
    publishableKey,
    fetch,
    WebSocket,
    call: async (mcpUrl, tool, args, options) => {
      const answer = await link((one) => one.mcpUrl === mcpUrl).call(tool, args, options);
      const { isError, text, content, structuredContent } = answer;
      return { isError, text, content, structuredContent };
    },
    toolNames: (mcpUrl) =>
      Promise.resolve(link((one) => one.mcpUrl === mcpUrl).tools.map(({ name }) => name)),
    act: (linkId, action) => Promise.resolve(link((one) => one.linkId === linkId)[action]()),
    suspend: (isSuspended) => Promise.resolve(fake.suspend(isSuspended)),
    drop: () => fake.drop(),
    close: () => Promise.resolve(),
  };
}
