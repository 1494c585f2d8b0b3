import { settleAll } from "./microtasks.ts";
import type { World } from "./world.ts";

/** Lets `ms` go by, with every timer in it. */
export async function advance(world: World, ms: number): Promise<void> {
  const { clock, random } = world;
  const end = clock.monotonic() + ms;
  for (let next = clock.nextAt; next !== null && next <= end; next = clock.nextAt) {
    world.step += 1;
    clock.runNext();
    // Timers of the same moment may be one event of the machine's, with no promise in between.
    if (clock.nextAt !== clock.monotonic() || random.chance(0.6)) await settleAll();
  }
  clock.moveTo(end);
}

/** Lets time go by until `promise` is settled. */
export async function until(world: World, promise: Promise<unknown>): Promise<void> {
  const { clock } = world;
  const state = { isOver: false };
  const over = promise.finally(() => (state.isOver = true));
  await settleAll();
  while (!state.isOver) {
    if (clock.nextAt === null) throw new Error("nothing is left that could happen");
    world.step += 1;
    clock.runNext();
    await settleAll();
  }
  await over;
}
