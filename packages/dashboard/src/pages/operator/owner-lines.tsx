import type { ReactNode } from "react";
import type { Owned } from "./operator-queries.ts";

/** An account as people know it: its name, and whose it is. */
export function OwnerLines({
  account,
  badge,
}: {
  readonly account: Owned;
  readonly badge?: ReactNode;
}) {
  const { name, owner } = account;
  return (
    <>
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        {name === "" ? (
          <span className="text-quiet">No name</span>
        ) : (
          <span dir="auto" className="min-w-0 font-medium wrap-anywhere">
            {name}
          </span>
        )}
        {badge}
      </span>
      <span className="block text-xs wrap-anywhere text-quiet">
        {owner === null ? "Nobody owns it" : <bdi>{owner.email}</bdi>}
      </span>
    </>
  );
}
