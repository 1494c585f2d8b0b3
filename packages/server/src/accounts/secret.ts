import { randomBytes } from "node:crypto";

const BYTES = 24;

/** Mints what a link carries: `prefix_` and 192 random bits in hex. */
export function mintSecret(prefix: "su" | "iv" | "rp"): string {
  return `${prefix}_${randomBytes(BYTES).toString("hex")}`;
}
