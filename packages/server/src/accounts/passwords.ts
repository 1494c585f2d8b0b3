import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/** The cost that OWASP's cheat sheet gives for 16 MiB: about 0.2 s of one core. */
const COST = { N: 2 ** 14, r: 8, p: 5 } as const;
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const MEMORY_MAX = 64 * 1024 * 1024;
/** Passwords hashed at once, on threads that the file system needs as well. */
const AT_ONCE = 2;
/** Past so many that wait, a sign-in is told to come back. */
const WAITING_MAX = 32;
/** Past so many times that number, one is refused outright. */
const HARD_FACTOR = 4;

/** Passwords that can be proven and not read: a port, so that tests may count and not wait. */
export interface Passwords {
  hash(password: string): Promise<string>;
  verify(password: string, hash: string): Promise<boolean>;
  /** Whether so many wait that one more should not. */
  readonly isBusy: boolean;
}

/** Passwords by scrypt, a bounded number at once, in the order they came. */
export class ScryptPasswords implements Passwords {
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #waitingMax: number;

  constructor(waitingMax = WAITING_MAX) {
    this.#waitingMax = waitingMax;
  }

  get isBusy(): boolean {
    return this.#waiting.length >= this.#waitingMax;
  }

  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const key = await this.#derive(password, salt);
    return `scrypt:${salt.toString("hex")}:${key.toString("hex")}`;
  }

  async verify(password: string, hash: string): Promise<boolean> {
    const [scheme, salt = "", expected = ""] = hash.split(":");
    const key = await this.#derive(password, Buffer.from(salt, "hex"));
    const known = Buffer.from(expected, "hex");
    return scheme === "scrypt" && known.length === KEY_BYTES && timingSafeEqual(key, known);
  }

  async #derive(password: string, salt: Buffer): Promise<Buffer> {
    // Who does not ask `isBusy` first is counted by limits of its own, and still not without end.
    if (this.#waiting.length >= this.#waitingMax * HARD_FACTOR) {
      throw new Error("too many passwords wait to be hashed");
    }
    if (this.#running >= AT_ONCE) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return await derive(password, salt);
    } finally {
      // The place is handed on, so that the number running stays as it is.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

function derive(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Two ways to type the same letter are one password.
    const text = password.normalize("NFKC");
    scrypt(text, salt, KEY_BYTES, { ...COST, maxmem: MEMORY_MAX }, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}
