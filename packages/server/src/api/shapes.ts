import { z } from "@hono/zod-openapi";
import { LIMITS, countCodePoints } from "@relay/protocol";
import { FREE_CALLS_MAX, MONEY_MICROS_MAX, PRICE_MICROS_MAX } from "../core/ledger.ts";
import type { Project, ProjectChanges, ProjectKey } from "../store/store.ts";

/** A text of 1 to `charsMax` code points that can be written as UTF-8. */
export function textOf(charsMax: number) {
  return z
    .string({ error: "must be a string" })
    .refine((text) => text.isWellFormed(), "must not hold half a surrogate pair")
    .refine((text) => !text.includes("\u0000"), "must not hold a NUL character")
    .refine(
      (text) => text !== "" && countCodePoints(text, charsMax) <= charsMax,
      `must be 1 to ${charsMax} characters`,
    );
}

/** An origin as browsers and app shells send it, such as `https://app.example.com`. */
const Origin = z
  .string({ error: "must be a string" })
  .regex(
    /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#*]+$/,
    "must be an exact origin such as https://app.example.com, without a path or a wildcard",
  )
  .max(256, "must be at most 256 characters")
  .refine(
    (text) => !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text),
    "must be written as browsers send it: in lower case, without a default port",
  );

const CALLS_PER_MINUTE = `must be a whole number from 1 to ${LIMITS.callsPerMinuteMax.value}`;

type Settings = z.output<typeof ProjectSettings>;

/** The settings among `patch` that were given: an absent one is not a change. */
export function givenSettings(patch: {
  readonly [Name in keyof Settings]?: Settings[Name] | undefined;
}): Pick<ProjectChanges, keyof Settings> {
  const { name, callsPerMinute, allowedOrigins, spendCapMicros } = patch;
  return {
    ...(name === undefined ? {} : { name }),
    ...(callsPerMinute === undefined ? {} : { callsPerMinute }),
    ...(allowedOrigins === undefined ? {} : { allowedOrigins }),
    ...(spendCapMicros === undefined ? {} : { spendCapMicros }),
  };
}

/** What a project's developer and its operator may both set. */
export const ProjectSettings = z.object({
  name: textOf(64),
  callsPerMinute: z
    .int({ error: CALLS_PER_MINUTE })
    .min(1, CALLS_PER_MINUTE)
    .max(LIMITS.callsPerMinuteMax.value, CALLS_PER_MINUTE),
  allowedOrigins: z
    .array(Origin, { error: "must be an array of origins" })
    .max(100, "must hold at most 100 origins"),
  spendCapMicros: wholeNumber(MONEY_MICROS_MAX).nullable(),
});

/** What the operator alone sets: what the project's calls cost. */
export const PriceSettings = z.object({
  freeCallsPerMonth: wholeNumber(FREE_CALLS_MAX).nullable(),
  priceMicrosPerCall: wholeNumber(PRICE_MICROS_MAX),
});

/** The price settings among `patch` that were given. */
export function givenPrices(patch: {
  readonly [Name in keyof Prices]?: Prices[Name] | undefined;
}): Partial<Prices> {
  const { freeCallsPerMonth, priceMicrosPerCall } = patch;
  return {
    ...(freeCallsPerMonth === undefined ? {} : { freeCallsPerMonth }),
    ...(priceMicrosPerCall === undefined ? {} : { priceMicrosPerCall }),
  };
}

type Prices = z.output<typeof PriceSettings>;

function wholeNumber(most: number) {
  const error = `must be a whole number from 0 to ${most}`;
  return z.int({ error }).min(0, error).max(most, error);
}

/** A flag in a query string. */
export const TrueOrFalse = z
  .enum(["true", "false"], { error: "must be true or false" })
  .transform((text) => text === "true");

/** A page of a list. */
export const PageQuery = z.object({
  limit: z.coerce
    .number({ error: "must be a whole number from 1 to 200" })
    .int("must be a whole number from 1 to 200")
    .min(1, "must be a whole number from 1 to 200")
    .max(200, "must be a whole number from 1 to 200")
    .default(50),
  cursor: z.string().optional(),
});

/** The shape of a page of a list. */
export function pageShape(item: z.ZodType) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

/** Milliseconds as the API shows times: ISO 8601 UTC. */
export function isoTime(ms: number): string;
export function isoTime(ms: number | null): string | null;
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** A moment with its offset, or a day, which begins at midnight UTC; becomes ms since 1970. */
export const Moment = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], { error: "must be an ISO 8601 time" })
  .transform((text) => Date.parse(text));

/** A time as the API shows it: ISO 8601 UTC. */
export const Time = z.string().openapi({ format: "date-time" });

export const ProjectShape = z
  .object({
    projectId: z.string(),
    accountId: z.string(),
    name: z.string(),
    callsPerMinute: z.int(),
    allowedOrigins: z.array(z.string()),
    suspended: z.boolean(),
    stopped: z.boolean(),
    freeCallsPerMonth: z.int().nullable(),
    priceMicrosPerCall: z.int(),
    spendCapMicros: z.int().nullable(),
    createdAt: Time,
  })
  .openapi("Project");

export const KeyShape = z
  .object({
    keyId: z.string(),
    kind: z.enum(["pk", "sk"]),
    prefix: z.string(),
    last4: z.string(),
    key: z.string().nullable().openapi({
      description: "The whole key where it is a publishable one; null for a secret one.",
    }),
    createdAt: Time,
    expiresAt: Time.nullable(),
    lastUsedAt: Time.nullable(),
    revokedAt: Time.nullable(),
  })
  .openapi("Key");

/** A project as the API shows it. */
export function projectView(project: Project): z.output<typeof ProjectShape> {
  return {
    projectId: project.projectId,
    accountId: project.accountId,
    name: project.name,
    callsPerMinute: project.callsPerMinute,
    allowedOrigins: [...project.allowedOrigins],
    suspended: project.suspended,
    stopped: project.stopped,
    freeCallsPerMonth: project.freeCallsPerMonth,
    priceMicrosPerCall: project.priceMicrosPerCall,
    spendCapMicros: project.spendCapMicros,
    createdAt: isoTime(project.createdAt),
  };
}

/** A key as lists show it: never the whole of a secret one. */
export function keyView(key: ProjectKey): z.output<typeof KeyShape> {
  return {
    keyId: key.keyId,
    kind: key.kind,
    prefix: `${key.kind}_`,
    last4: key.last4,
    key: key.plain,
    createdAt: isoTime(key.createdAt),
    expiresAt: isoTime(key.expiresAt),
    lastUsedAt: isoTime(key.lastUsedAt),
    revokedAt: isoTime(key.revokedAt),
  };
}
