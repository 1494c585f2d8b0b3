import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { useFeatures, useMe } from "../../api/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, PageHead } from "../../ui/card.tsx";
import { CopyLine } from "../../ui/copy.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { count, money, shortId } from "../../ui/format.ts";
import { FailureNote, Loading } from "../../ui/notice.tsx";
import { Cell, More, Row, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { say } from "../../ui/toast.tsx";
import { InvitationList } from "../invitation-list.tsx";
import { CreditDialog } from "./credit-dialog.tsx";
import { accountsQuery, usersQuery } from "./operator-queries.ts";
import type { Account, User } from "./operator-queries.ts";
import { OwnerLines } from "./owner-lines.tsx";

/** The people and the accounts of this Relay, and who may come. */
export function AccountsPage() {
  return (
    <>
      <PageHead
        title="Accounts"
        note="People sign in; accounts own projects and money. One person can be in several accounts."
      />
      <div className="flex flex-col gap-6">
        <UsersCard />
        <InvitationList
          path="operator/invitations"
          title="Invitations to this Relay"
          note="For developers who get an account of their own."
          withRoles={false}
        />
        <AccountsCard />
      </div>
    </>
  );
}

function UsersCard() {
  const users = useInfiniteQuery(usersQuery);
  const client = useQueryClient();
  const me = useMe()?.user.id;
  const [link, setLink] = useState<string | null>(null);
  const change = useAction(
    (user: User) => request("PATCH", `operator/users/${user.userId}`, { disabled: !user.disabled }),
    () => {
      say("Done.");
      void client.invalidateQueries({ queryKey: usersQuery.queryKey });
    },
  );
  const reset = useAction(
    (email: string) =>
      request<{ readonly url: string }>("POST", "operator/users/password-reset", { email }),
    ({ url }) => setLink(url),
  );
  const failure = users.error ?? change.failure ?? reset.failure;
  const items = users.data?.pages.flatMap((page) => page.items);
  return (
    <Card flush title="People">
      {failure === null ? null : <FailureNote failure={failure} />}
      {items === undefined ? (
        users.error === null ? (
          <Loading />
        ) : null
      ) : (
        <Table
          caption="People"
          columns={[
            { name: "Who" },
            { name: "Since", wideOnly: true },
            { name: "Actions", silent: true, end: true },
          ]}
        >
          {items.map((user) => (
            <Row key={user.userId}>
              <Cell className="max-w-80 min-w-36">
                <span className="flex flex-wrap items-center gap-2">
                  <span dir="auto" className="min-w-0 font-medium wrap-anywhere">
                    {user.name}
                  </span>
                  {user.disabled ? <Badge tone="danger">disabled</Badge> : null}
                  {user.userId === me ? <Badge>you</Badge> : null}
                </span>
                <span className="block text-xs break-all text-quiet">{user.email}</span>
              </Cell>
              <Cell wideOnly>
                <Ago at={user.createdAt} />
              </Cell>
              <Cell end>
                <Button small kind="quiet" onClick={() => reset.run(user.email)}>
                  Password link
                </Button>
                {user.userId === me ? null : (
                  <Button small kind="quiet" busy={change.busy} onClick={() => change.run(user)}>
                    {user.disabled ? "Enable" : "Disable"}
                  </Button>
                )}
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      <More query={users} />
      {link === null ? null : (
        <Dialog open title="A link to a new password" onClose={() => setLink(null)}>
          <CopyLine title="Works once, within an hour" text={link} />
          <DialogActions>
            <Button kind="primary" onClick={() => setLink(null)}>
              Done
            </Button>
          </DialogActions>
        </Dialog>
      )}
    </Card>
  );
}

function AccountsCard() {
  const accounts = useInfiniteQuery(accountsQuery);
  const billing = useFeatures()?.billing;
  const [crediting, setCrediting] = useState<Account | null>(null);
  const items = accounts.data?.pages.flatMap((page) => page.items);
  return (
    <Card flush title="Accounts">
      {accounts.error !== null ? (
        <FailureNote failure={accounts.error} onRetry={() => void accounts.refetch()} />
      ) : items === undefined ? (
        <Loading />
      ) : (
        <Table
          caption="Accounts"
          columns={[
            { name: "Account" },
            { name: "Projects", end: true, wideOnly: true },
            ...(billing === "prepaid" ? [{ name: "Balance", end: true }] : []),
            { name: "Since", wideOnly: true },
            { name: "Actions", silent: true, end: true },
          ]}
        >
          {items.map((account) => (
            <Row key={account.accountId}>
              <Cell className="max-w-80 min-w-36">
                <OwnerLines
                  account={account}
                  badge={account.isOperator ? <Badge tone="info">operator</Badge> : null}
                />
                <code className="block text-xs text-quiet">
                  <span className="lg:hidden">{shortId(account.accountId)}</span>
                  <span className="hidden break-all lg:inline">{account.accountId}</span>
                </code>
              </Cell>
              <Cell end wideOnly>
                {count(account.projects)}
              </Cell>
              {billing === "prepaid" ? <Cell end>{money(account.balanceMicros)}</Cell> : null}
              <Cell wideOnly>
                <Ago at={account.createdAt} />
              </Cell>
              <Cell end>
                {billing === "prepaid" ? (
                  <Button small onClick={() => setCrediting(account)}>
                    Credit…
                  </Button>
                ) : null}
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      <More query={accounts} />
      {crediting === null ? null : (
        <CreditDialog account={crediting} onClose={() => setCrediting(null)} />
      )}
    </Card>
  );
}
