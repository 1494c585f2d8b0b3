import type { Bus, BusHandlers, LinkOrder, Notice } from "./bus.ts";

/** The nodes of one process, by name. One hub makes a cluster, most often of a single node. */
export class InProcessHub {
  readonly #nodes = new Map<string, BusHandlers>();

  /** Opens the bus of the node `name`; a name can be held once at a time. */
  bus(name: string): Bus {
    const nodes = this.#nodes;
    return {
      node: name,
      join: (handlers) => {
        if (nodes.has(name)) throw new Error(`the node name ${name} is taken`);
        nodes.set(name, handlers);
      },
      request: async (node: string, order: LinkOrder) => nodes.get(node)?.order(order) ?? false,
      publish: async (notice: Notice) => {
        await Promise.all([...nodes.values()].map((handlers) => handlers.notice(notice)));
      },
      isUp: () => nodes.has(name),
      close: async () => {
        if (!nodes.delete(name)) return;
        for (const handlers of nodes.values()) handlers.peerLost(name);
      },
    };
  }
}
