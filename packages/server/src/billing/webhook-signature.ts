import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** Mints a signing secret as Standard Webhooks has it: `whsec_` and 32 bytes in base64. */
export function mintWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** The headers by which a receiver knows an event for Relay's own, sent at `atSeconds` (Unix time). */
export function signedHeaders(
  secret: string,
  eventId: string,
  body: string,
  atSeconds: number,
): Readonly<Record<string, string>> {
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  const signature = createHmac("sha256", key)
    .update(`${eventId}.${atSeconds}.${body}`)
    .digest("base64");
  return {
    "webhook-id": eventId,
    "webhook-timestamp": String(atSeconds),
    "webhook-signature": `v1,${signature}`,
  };
}
