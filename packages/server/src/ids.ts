import { createHash, hash, randomFillSync } from "node:crypto";
import { TOKEN_SHAPES } from "@relay/protocol";
import type {
  AccountId,
  KeyId,
  LinkId,
  ProjectId,
  RequestId,
  TokenKind,
  TokenOf,
} from "@relay/protocol";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Bytes from here up are thrown away, so that every character is equally likely. */
const UNBIASED_BELOW = 256 - (256 % BASE62.length);

/** Mints a token or call id of `kind` from the system's CSPRNG (SPEC 2). */
export function mintToken<Kind extends TokenKind>(kind: Kind): TokenOf[Kind] {
  const { prefix, characters } = TOKEN_SHAPES[kind];
  let text: string = prefix;
  while (text.length < prefix.length + characters) {
    const byte = nextRandomByte();
    if (byte < UNBIASED_BELOW) text += BASE62.charAt(byte % BASE62.length);
  }
  // Built by the table that defines the shape.
  return text as unknown as TokenOf[Kind];
}

/** Ids that sort by age: UUIDv7 of the wall clock (SPEC 2). */
export const mintLinkId = (wallMs: number): LinkId => mintUuid(wallMs) as LinkId;
export const mintProjectId = (wallMs: number): ProjectId => mintUuid(wallMs) as ProjectId;
export const mintAccountId = (wallMs: number): AccountId => mintUuid(wallMs) as AccountId;
export const mintKeyId = (wallMs: number): KeyId => mintUuid(wallMs) as KeyId;

/** Mints the id of one HTTP exchange: `req_` and a UUIDv7 without dashes. */
export function mintRequestId(wallMs: number): RequestId {
  return `req_${mintUuid(wallMs).replaceAll("-", "")}` as RequestId;
}

/** SHA-256 of a token: the only form in which one is stored or looked up. */
export function hashToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** SHA-256 as lower-case hex, for content addresses. */
export function hashText(...parts: readonly string[]): string {
  const sum = createHash("sha256");
  // Each part's length goes in too, so that two splits of the same text differ.
  for (const part of parts) sum.update(`${part.length}:`).update(part);
  return sum.digest("hex");
}

/** Mints a UUIDv7: its first 48 bits are the time, so that ids sort by age. */
function mintUuid(wallMs: number): string {
  const bytes = Buffer.alloc(16);
  for (let at = 6; at < bytes.length; at += 1) bytes[at] = nextRandomByte();
  bytes.writeUIntBE(wallMs, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Random bytes are drawn from the system in blocks: one system call serves many ids. */
const pool = Buffer.alloc(4096);
let poolUsed = pool.length;

function nextRandomByte(): number {
  if (poolUsed === pool.length) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  const byte = pool[poolUsed] ?? 0;
  // A byte that became part of a token does not stay in memory.
  pool[poolUsed] = 0;
  poolUsed += 1;
  return byte;
}
