import { z } from "@hono/zod-openapi";
import type { UserId } from "@relay/protocol";
import type { ApiDeps } from "./routes.ts";

/** Whose an account is, as the operator knows people. */
export const OwnerShape = z
  .object({ name: z.string(), email: z.string() })
  .nullable()
  .openapi({ description: "The owner who has been a member longest; null where nobody is one." });

type Owned = { readonly ownerId: UserId | null };

/** Finds the owners of what a page lists, all with one look at the people. */
export async function ownersOf(
  deps: Pick<ApiDeps, "people">,
  listed: readonly Owned[],
): Promise<(of: Owned) => z.output<typeof OwnerShape>> {
  const ids = [...new Set(listed.flatMap(({ ownerId }) => (ownerId === null ? [] : [ownerId])))];
  // Not even asked for nobody: people are opened at the first question about them.
  const people = ids.length === 0 ? null : await deps.people.accounts.peopleOf(ids);
  return ({ ownerId }) => {
    const person = ownerId === null ? undefined : people?.get(ownerId);
    return person === undefined ? null : { name: person.name, email: person.email };
  };
}
