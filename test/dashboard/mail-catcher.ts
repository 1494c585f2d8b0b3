/** A mail server on loopback that takes every letter and gives it to the test. */
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

const PATIENCE_MS = 20_000;

export type Caught = { readonly to: string; readonly text: string };

export class MailCatcher {
  readonly letters: Caught[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#talk(socket));
  #arrived: () => void = () => undefined;

  static async open(): Promise<MailCatcher> {
    const catcher = new MailCatcher();
    await new Promise<void>((resolve) => catcher.#server.listen(0, "127.0.0.1", resolve));
    return catcher;
  }

  get url(): string {
    // A server on TCP has an address with a port.
    return `smtp://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The link in the next letter to an address, once it has come. */
  async linkFor(to: string): Promise<string> {
    const deadline = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const at = this.letters.findIndex((letter) => letter.to === to);
      const [letter] = at === -1 ? [] : this.letters.splice(at, 1);
      const link = /http:\S+/.exec(letter?.text ?? "")?.[0];
      if (link !== undefined) return link;
      await new Promise<void>((resolve, reject) => {
        this.#arrived = resolve;
        deadline.addEventListener("abort", () => reject(new Error(`no letter to ${to} came`)), {
          once: true,
        });
      });
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #talk(socket: Socket): void {
    this.#sockets.add(socket);
    let text = "";
    let to = "";
    let letter: string[] | null = null;
    socket.on("error", () => socket.destroy());
    socket.write("220 catcher ESMTP\r\n");
    socket.on("data", (chunk) => {
      text += chunk.toString();
      for (let end = text.indexOf("\r\n"); end !== -1; end = text.indexOf("\r\n")) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        if (letter !== null && line !== ".") letter.push(line);
        else if (letter !== null) {
          this.#keep(to, letter);
          letter = null;
          socket.write("250 taken\r\n");
        } else if (line === "DATA") {
          letter = [];
          socket.write("354 go on\r\n");
        } else {
          to = /^RCPT TO:<(.+)>/.exec(line)?.[1] ?? to;
          socket.write("250 fine\r\n");
        }
      }
    });
  }

  /** A long line was sent in two, the first of which ends in an equals sign. */
  #keep(to: string, lines: readonly string[]): void {
    const text = lines.join("\n").replaceAll("=\n", "").replaceAll("=3D", "=");
    this.letters.push({ to, text });
    this.#arrived();
  }
}
