import type { LinkId, ProjectId, UrlToken } from "@relay/protocol";
import type { Bus, LinkOrder } from "../cluster/bus.ts";
import { hashToken, mintToken } from "../ids.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../observe/log.ts";
import type { Link, Store } from "../store/store.ts";
import type { LinkDriver } from "./driver.ts";
import type { LiveProjects } from "./live.ts";
import type { Registry } from "./registry.ts";
import type { Seal } from "./seal.ts";

/** The app's own command, if one caused the action: its socket gets the answer with its id. */
export type Command = LinkOrder["command"];

export type ActionDeps = {
  readonly store: Store;
  readonly bus: Bus;
  readonly registry: Registry;
  readonly seal: Seal;
  readonly live: LiveProjects;
  readonly clock: Clock;
  readonly log: Log;
  readonly mcpUrlOf: (token: UrlToken) => string;
};

/**
 * What may be done to a link, by its app, its developer or the operator: one implementation for
 * all of them. The store is changed first; then the node that owns the link's socket is told.
 */
export class LinkActions {
  readonly #deps: ActionDeps;

  constructor(deps: ActionDeps) {
    this.#deps = deps;
  }

  /** Gives the link a new MCP URL; the old one is unknown from then on. */
  async rotate(linkId: LinkId, command: Command): Promise<{ readonly mcpUrl: string } | "gone"> {
    const { store, seal, mcpUrlOf } = this.#deps;
    const token = mintToken("urlToken");
    const mcpUrl = mcpUrlOf(token);
    const urlTokenHash = hashToken(token);
    const rotated = await store.rotateLink({ linkId, urlTokenHash, sealedUrl: seal.close(mcpUrl) });
    if (rotated === "gone") return "gone";
    await this.#tellOwner(linkId, (link) => ({
      type: "rotated",
      urlTokenHash,
      mcpUrl,
      ...addressOf(link, command),
    }));
    return { mcpUrl };
  }

  /** Pauses or resumes the link; calls in flight finish. False when there is no such live link. */
  async setPaused(linkId: LinkId, paused: boolean, command: Command): Promise<boolean> {
    if (!(await this.#deps.store.setLinkPaused(linkId, paused))) return false;
    await this.#tellOwner(linkId, (link) => ({
      type: "paused",
      paused,
      ...addressOf(link, command),
    }));
    return true;
  }

  /** Revokes the link for good. False when there is no such link. */
  async revoke(linkId: LinkId, command: Command): Promise<boolean> {
    if (!(await this.#deps.store.revokeLink(linkId, this.#deps.clock.wall()))) return false;
    await this.#tellOwner(linkId, (link) => ({ type: "revoked", ...addressOf(link, command) }));
    return true;
  }

  /** Carries out an order on a link whose socket this node owns. */
  carryOut(order: LinkOrder): boolean {
    const { registry } = this.#deps;
    const driver = registry.find(order.linkId);
    if (driver === null || !driver.isConnected) return false;
    // A later claim whose answer was lost has left the older socket in place: it must hear of it.
    const { ownerEpoch } = driver.link;
    if (ownerEpoch > order.epoch) return false;
    const { command } = order;
    const id = command !== null && command.epoch === ownerEpoch ? command.id : null;
    switch (order.type) {
      case "rotated":
        registry.rotated(driver, order.urlTokenHash);
        this.tellUrl(driver, id, order.mcpUrl);
        return true;
      case "paused":
        driver.update({ ...driver.link, paused: order.paused });
        driver.tell({ type: "link.state", id, paused: order.paused });
        return true;
      case "revoked":
        this.#end(driver, id);
        return true;
    }
  }

  /** Ends the sockets that this node owns of a project that is gone, as if each link was revoked. */
  endProject(projectId: ProjectId): void {
    for (const driver of this.#deps.registry.driversOf(projectId)) this.#end(driver, null);
  }

  #end(driver: LinkDriver, id: string | null): void {
    const { registry, clock } = this.#deps;
    driver.update({ ...driver.link, revokedAt: clock.wall() });
    driver.tell({ type: "link.revoked", id });
    driver.closeSocket(4410);
    registry.noteDisconnected(driver);
  }

  /** Sends a link's new URL; once the app provably has it, the sealed copy is erased (SPEC 5). */
  tellUrl(driver: LinkDriver, id: string | null, mcpUrl: string): void {
    const { store, log } = this.#deps;
    const { linkId } = driver;
    const { urlTokenHash } = driver.link;
    driver.tell({ type: "link.rotated", id, mcpUrl });
    driver.ping(() => {
      store.forgetSealedUrl(linkId, urlTokenHash).catch((error: unknown) => {
        log.warn(
          { err: error, linkId },
          "a sealed URL was not erased; the next ready tells it again",
        );
      });
    });
  }

  async #tellOwner(linkId: LinkId, orderFor: (link: Link) => LinkOrder): Promise<void> {
    const record = await this.#deps.store.getLink(linkId);
    if (record === null) return;
    this.#deps.live.linkChanged(record.link);
    if (record.link.ownerNode === null) return;
    await this.#deps.bus.request(record.link.ownerNode, orderFor(record.link));
  }
}

function addressOf(link: Link, command: Command): Pick<LinkOrder, "linkId" | "epoch" | "command"> {
  return { linkId: link.linkId, epoch: link.ownerEpoch, command };
}
