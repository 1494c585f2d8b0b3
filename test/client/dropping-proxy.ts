import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A TCP proxy in front of a port, which can lose every connection or swallow what goes through. */
export class DroppingProxy {
  readonly url: string;
  /** While true, nothing goes through, and nobody is told: the peers look alive and are not. */
  isSilent = false;
  readonly #server;
  readonly #sockets: Set<Socket>;

  private constructor(server: ReturnType<typeof createServer>, sockets: Set<Socket>, port: number) {
    this.#server = server;
    this.#sockets = sockets;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async open(targetPort: number): Promise<DroppingProxy> {
    const sockets = new Set<Socket>();
    let proxy: DroppingProxy | null = null;
    const server = createServer((near) => {
      const far = connect({ host: "127.0.0.1", port: targetPort, noDelay: true });
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(one);
        one.on("error", () => undefined);
        one.on("data", (chunk) => {
          if (proxy?.isSilent !== true) other.write(chunk);
        });
        one.on("close", () => {
          sockets.delete(one);
          other.destroy();
        });
      }
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    // A server on TCP has an address with a port.
    proxy = new DroppingProxy(server, sockets, (server.address() as AddressInfo).port);
    return proxy;
  }

  /** Loses every connection. */
  drop(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.drop();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}
