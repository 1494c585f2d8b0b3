import type { LinkId, ProjectId } from "@relay/protocol";

/** What one node asks of the node that owns a link's live socket; fenced by the epoch. */
export type LinkOrder = {
  readonly linkId: LinkId;
  readonly epoch: number;
  /** The frame the order came by, if an app's command caused it: that socket gets its `id` back. */
  readonly command: { readonly epoch: number; readonly id: string } | null;
} & (
  | { readonly type: "rotated"; readonly urlTokenHash: Uint8Array; readonly mcpUrl: string }
  | { readonly type: "paused"; readonly paused: boolean }
  | { readonly type: "revoked" }
);

/** What every node is told. */
export type Notice = { readonly type: "project_changed"; readonly projectId: ProjectId };

export type BusHandlers = {
  /** Carries out an order; false when this node does not own the link under that epoch. */
  readonly order: (order: LinkOrder) => boolean;
  readonly notice: (notice: Notice) => Promise<void>;
  /** A node is gone, and every socket it owned with it. */
  readonly peerLost: (node: string) => void;
};

/** How nodes talk. On one machine there is one node, and it talks to itself. */
export interface Bus {
  /** This node's name: what `owner_node` of its links says. */
  readonly node: string;
  /** Starts to receive. */
  join(handlers: BusHandlers): void;
  /** Hands an order to one node; false when it is not there or does not own the link. */
  request(node: string, order: LinkOrder): Promise<boolean>;
  /** Tells every node, this one too; resolves when those that can be reached have acted. */
  publish(notice: Notice): Promise<void>;
  /** Whether other nodes can be reached, as far as this one knows. */
  isUp(): boolean;
  close(): Promise<void>;
}
