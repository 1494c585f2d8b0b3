import type { Log } from "../observe/log.ts";

const TIMEOUT_MS = 10_000;
/** Mails on their way at once; past it one is dropped, and the log says so. */
const SENDING_MAX = 50;

export type Letter = { readonly to: string; readonly subject: string; readonly text: string };

/** Sends letters: a port, so that tests read them. */
export interface Mail {
  /** Resolves when the letter is taken or lost; a loss is in the log. */
  send(letter: Letter): Promise<void>;
}

/** Mail over SMTP. Nothing of it is loaded before the first letter. */
export class SmtpMail implements Mail {
  readonly #url: string;
  readonly #from: string;
  readonly #log: Log;
  #sending = 0;

  /** `url` as `smtp://user:password@host:587` or `smtps://…`. */
  constructor(url: string, from: string, log: Log) {
    this.#url = url;
    this.#from = from;
    this.#log = log;
  }

  async send(letter: Letter): Promise<void> {
    if (this.#sending >= SENDING_MAX) {
      this.#log.warn({ sending: this.#sending }, "a mail was dropped: too many are on their way");
      return;
    }
    this.#sending += 1;
    try {
      const { createTransport } = await import("nodemailer");
      const transport = createTransport({
        url: this.#url,
        connectionTimeout: TIMEOUT_MS,
        greetingTimeout: TIMEOUT_MS,
        socketTimeout: TIMEOUT_MS,
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      try {
        await transport.sendMail({ from: this.#from, ...letter });
      } finally {
        transport.close();
      }
    } catch (error) {
      // The server's own words, which name neither the letter nor its address.
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
      this.#log.error({ code }, "a mail could not be sent");
    } finally {
      this.#sending -= 1;
    }
  }
}

/** The letter that lets its reader set a new password. */
export function passwordLetter(to: string, link: string): Letter {
  return {
    to,
    subject: "Set a new password for Relay",
    text: `Somebody, hopefully you, asked for a new password for this address.\n\nSet it within an hour:\n${link}\n\nIf it was not you, do nothing: the old password stays.\n`,
  };
}

/** The letter that proves that its reader has the address. */
export function confirmLetter(to: string, link: string): Letter {
  return {
    to,
    subject: "Confirm your e-mail address for Relay",
    text: `Somebody, hopefully you, signed up to Relay with this address.\n\nConfirm it within an hour:\n${link}\n\nIf it was not you, do nothing: the address stays unconfirmed.\n`,
  };
}

/** The letter with an invitation. */
export function invitationLetter(to: string, link: string): Letter {
  return {
    to,
    subject: "You are invited to Relay",
    text: `You are invited to an account on Relay.\n\nAccept within seven days:\n${link}\n\nThe link works once, for whoever has it.\n`,
  };
}
