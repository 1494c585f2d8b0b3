import type { Random } from "../../packages/server/src/core/schema/test/random.ts";
import type { Book } from "./book.ts";
import { LOST } from "./soak-link.ts";
import type { SoakLink } from "./soak-link.ts";

/**
 * Loses the sockets of all these links at once, a third of them with a call in the app, and opens
 * them all again as fast as it goes. Returns how long that took.
 */
export async function storm(
  links: readonly SoakLink[],
  book: Book,
  random: Random,
): Promise<{ readonly seconds: number }> {
  const busy = links.filter(() => random.chance(1 / 3));
  const calls = await Promise.all(busy.map(async (link) => ({ link, call: await link.held() })));
  const startedAt = performance.now();
  for (const link of links) link.app.terminate();
  const back = links.map(async (link) => {
    try {
      await link.connect();
    } catch (error) {
      book.fault(`storm: ${link.facts.linkId} did not come back: ${String(error)}`);
    }
  });
  await Promise.all(back);
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all(calls.map(({ link, call }) => link.ends(call, LOST, "storm")));
  for (const { link } of calls) if (link.wasLate) await link.startOver();
  return { seconds };
}
