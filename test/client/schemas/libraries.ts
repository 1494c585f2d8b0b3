/**
 * Tools whose schemas are arktype's and valibot's. Compiled and run by `schemas.test.ts`, since the
 * libraries are not part of the workspace: each `@ts-expect-error` must be one.
 */
import { tool } from "@relay/client";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";

type Same<One, Other> = [One, Other] extends [Other, One] ? true : never;

const description = "Full-text search of the person's notes";

export const withArktype = tool("search_notes", {
  description,
  input: type({ query: "string", "limit?": "1 <= number.integer <= 50" }),
  output: type({ found: "string[]" }),
  run: (args) => {
    const same: Same<typeof args, { query: string; limit?: number }> = true;
    // @ts-expect-error there is no such argument
    const missing: unknown = args.nothing;
    return { found: [args.query, String(same), String(missing)] };
  },
});

export const withValibot = tool("search_notes", {
  description,
  input: toStandardJsonSchema(
    v.object({
      query: v.string(),
      limit: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(50)), 10),
    }),
  ),
  output: toStandardJsonSchema(v.object({ found: v.array(v.string()) })),
  run: (args) => {
    const same: Same<typeof args, { query: string; limit: number }> = true;
    return { found: [args.query, String(args.limit), String(same)] };
  },
});

export const wrong = tool("search_notes", {
  description,
  output: type({ found: "string[]" }),
  // @ts-expect-error what is found is text
  run: () => ({ found: [1] }),
});

/** Throws: valibot's schemas have no JSON Schema of their own, `toStandardJsonSchema` gives them one. */
export function withBareValibot(): unknown {
  // @ts-expect-error the JSON Schema is missing
  return tool("bare", { description, input: v.object({ query: v.string() }), run: () => "" });
}
