import { HOSTILE_CHECKS } from "./hostile-checks.ts";
import { HOSTILE_SCHEMAS } from "./hostile-schemas.ts";

/**
 * Schemas and values that are meant to hurt: each within the sizes that Relay takes (64 KiB of
 * manifest, 64 KiB of arguments, 128 KiB of result). Plain data, so that the benchmark can time them.
 */
export interface HostileCase {
  readonly name: string;
  /** What must become of it: the schema is refused, or the check ends like this. */
  readonly outcome: "refused" | "valid" | "invalid" | "too-complex";
  readonly schema: unknown;
  readonly value: unknown;
}

/** All of the hostile set. */
export const HOSTILE_CASES: readonly HostileCase[] = [
  ...Object.entries(HOSTILE_SCHEMAS).map(([name, schema]): HostileCase => ({
    name,
    outcome: "refused",
    schema,
    value: null,
  })),
  ...HOSTILE_CHECKS,
];
