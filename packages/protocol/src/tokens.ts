import type { Brand } from "./brand.ts";

/** The app's credential for one link; sent only inside `hello`. */
export type LinkToken = Brand<"LinkToken">;
/** The host's credential for one link; the last segment of its MCP URL. */
export type UrlToken = Brand<"UrlToken">;
/** A project's public key: may create links, and nothing else. */
export type PublishableKey = Brand<"PublishableKey">;
/** A project's secret key for the developer's REST API. */
export type SecretKey = Brand<"SecretKey">;
/** The operator's token for `/v1/operator`. */
export type OperatorToken = Brand<"OperatorToken">;
/** Names one call on the app's socket. */
export type CallId = Brand<"CallId">;
/** Names one HTTP exchange; sent as `X-Request-Id`. */
export type RequestId = Brand<"RequestId">;
export type LinkId = Brand<"LinkId">;
export type ProjectId = Brand<"ProjectId">;
export type AccountId = Brand<"AccountId">;
/** A person with a password or a passkey for the dashboard. */
export type UserId = Brand<"UserId">;
export type KeyId = Brand<"KeyId">;

/** Every token and id that has a prefix: what follows it is base62 (SPEC 2). */
export const TOKEN_SHAPES = {
  linkToken: { prefix: "lt_", characters: 32, secret: true },
  urlToken: { prefix: "ut_", characters: 32, secret: true },
  publishableKey: { prefix: "pk_", characters: 32, secret: false },
  secretKey: { prefix: "sk_", characters: 32, secret: true },
  operatorToken: { prefix: "op_", characters: 32, secret: true },
  callId: { prefix: "c_", characters: 16, secret: false },
} as const satisfies Record<string, { prefix: string; characters: number; secret: boolean }>;

export type TokenKind = keyof typeof TOKEN_SHAPES;

/** The branded type of each kind of token. */
export type TokenOf = {
  linkToken: LinkToken;
  urlToken: UrlToken;
  publishableKey: PublishableKey;
  secretKey: SecretKey;
  operatorToken: OperatorToken;
  callId: CallId;
};

const PATTERNS: Readonly<Record<TokenKind, RegExp>> = {
  linkToken: /^lt_[0-9A-Za-z]{32}$/,
  urlToken: /^ut_[0-9A-Za-z]{32}$/,
  publishableKey: /^pk_[0-9A-Za-z]{32}$/,
  secretKey: /^sk_[0-9A-Za-z]{32}$/,
  operatorToken: /^op_[0-9A-Za-z]{32}$/,
  callId: /^c_[0-9A-Za-z]{16}$/,
};

/** Returns `text` as a token of `kind`, or null when it does not have that kind's shape. */
export function parseToken<Kind extends TokenKind>(kind: Kind, text: string): TokenOf[Kind] | null {
  // The one place where a checked string becomes a token.
  return PATTERNS[kind].test(text) ? (text as unknown as TokenOf[Kind]) : null;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Tells whether `text` has the shape of a link, project, account or key id (a UUID, lower case). */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
