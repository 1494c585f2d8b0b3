import { useMe } from "../api/session.ts";
import type { Me } from "../api/shapes.ts";

export type OwnAccount = Me["accounts"][number];

/** The account that a page is about: the one in its address, or the person's first. */
export function useAccount(accountId: string | undefined): {
  readonly account: OwnAccount | null;
  readonly accounts: readonly OwnAccount[];
} {
  const accounts = useMe()?.accounts ?? [];
  const named = accounts.find((account) => account.accountId === accountId);
  return { account: named ?? accounts[0] ?? null, accounts };
}
