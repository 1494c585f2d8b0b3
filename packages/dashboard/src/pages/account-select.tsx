import { Select } from "../ui/field.tsx";
import type { OwnAccount } from "./use-account.ts";

/** The choice among the accounts one is in; nothing for who is in one. */
export function AccountSelect({
  accounts,
  value,
  onValue,
}: {
  readonly accounts: readonly OwnAccount[];
  readonly value: string;
  readonly onValue: (accountId: string) => void;
}) {
  if (accounts.length < 2) return null;
  return (
    <Select
      aria-label="Account"
      value={value}
      onValue={onValue}
      options={accounts.map(({ accountId, name }) => ({ value: accountId, label: name }))}
    />
  );
}
