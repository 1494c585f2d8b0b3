import { hash, randomFillSync } from "node:crypto";
import { TOKEN_SHAPES } from "@relay/protocol";
import type {
  AccountId,
  KeyId,
  LinkId,
  ProjectId,
  RequestId,
  TokenKind,
  TokenOf,
  UserId,
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
export const mintUserId = (wallMs: number): UserId => mintUuid(wallMs) as UserId;
/** Names an invitation; not its token. */
export const mintInvitationId = (wallMs: number): string => mintUuid(wallMs);
export const mintAuditId = (wallMs: number): string => mintUuid(wallMs);
/** Names an entry of the ledger. */
export const mintEntryId = (wallMs: number): string => mintUuid(wallMs);
/** Names an event that is sent to a webhook. */
export const mintEventId = (wallMs: number): string => `msg_${mintUuid(wallMs)}`;
export const mintKeyId = (wallMs: number): KeyId => mintUuid(wallMs) as KeyId;

/** Mints the id of one HTTP exchange: `req_` and a UUIDv7 without dashes. */
export function mintRequestId(wallMs: number): RequestId {
  return `req_${mintUuid(wallMs, "")}` as RequestId;
}

/** SHA-256 of a token: the only form in which one is stored or looked up. */
export function hashToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** The same as a text of one character a byte: a key for maps, cheaper to make than the bytes. */
export function tokenHashKey(token: string): string {
  return hash("sha256", token, "binary");
}

/** SHA-256 as lower-case hex, for content addresses. */
export function hashText(...parts: readonly string[]): string {
  // Each part's length goes in too, so that two splits of the same text differ.
  return hash("sha256", parts.map((part) => `${part.length}:${part}`).join(""), "hex");
}

/** Mints a UUIDv7: its first 48 bits are the time, so that ids sort by age. */
function mintUuid(wallMs: number, dash = "-"): string {
  const time = wallMs.toString(16).padStart(12, "0");
  const version = hexOf(0x70 | (nextRandomByte() & 0x0f)) + randomHex(1);
  const variant = hexOf(0x80 | (nextRandomByte() & 0x3f)) + randomHex(1);
  return `${time.slice(0, 8)}${dash}${time.slice(8)}${dash}${version}${dash}${variant}${dash}${randomHex(6)}`;
}

const HEX_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function hexOf(byte: number): string {
  return HEX_OF_BYTE[byte] ?? "00";
}

function randomHex(bytes: number): string {
  let hex = "";
  for (let at = 0; at < bytes; at += 1) hex += hexOf(nextRandomByte());
  return hex;
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
