import { useNavigate, useSearch } from "@tanstack/react-router";
import { PageHead } from "../ui/card.tsx";
import { Loading } from "../ui/notice.tsx";
import { AccountSelect } from "./account-select.tsx";
import { AuditList } from "./audit-list.tsx";
import { useAccount } from "./use-account.ts";

/** What was done in an account, by whom and from where. */
export function AuditPage() {
  const search = useSearch({ from: "/app/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const { account, accounts } = useAccount(search.account);
  if (account === null) return <Loading />;
  return (
    <>
      <PageHead
        title="Audit log"
        note="Who changed what, when and from where; for owners and admins. Lines are kept for 400 days and can’t be changed."
        actions={
          <AccountSelect
            accounts={accounts}
            value={account.accountId}
            onValue={(next) => void navigate({ search: { account: next }, replace: true })}
          />
        }
      />
      <AuditList key={account.accountId} path={`accounts/${account.accountId}/audit`} />
    </>
  );
}
