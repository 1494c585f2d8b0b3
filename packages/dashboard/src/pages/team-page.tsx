import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../api/action.tsx";
import { request } from "../api/client.ts";
import { meQuery, useMe } from "../api/session.ts";
import type { Role } from "../api/shapes.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Card, PageHead } from "../ui/card.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Select, TextField } from "../ui/field.tsx";
import { FailureNote, Loading } from "../ui/notice.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";
import { say } from "../ui/toast.tsx";
import { AccountSelect } from "./account-select.tsx";
import { InvitationList } from "./invitation-list.tsx";
import { ROLES, ROLE_WORDS } from "./roles.ts";
import { useAccount } from "./use-account.ts";
import type { OwnAccount } from "./use-account.ts";

type Member = {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly joinedAt: string;
};

/** Who belongs to an account, and who is invited to it. */
export function TeamPage() {
  const search = useSearch({ from: "/app/team" });
  const navigate = useNavigate({ from: "/team" });
  const { account, accounts } = useAccount(search.account);
  if (account === null) return <Loading />;
  const { accountId, role } = account;
  const manages = role === "owner" || role === "admin";
  return (
    <>
      <PageHead
        title="Team"
        note={
          <>
            The people of <bdi className="font-medium text-ink">{account.name}</bdi>. All its
            projects are theirs, as far as their role goes.
          </>
        }
        actions={
          <AccountSelect
            accounts={accounts}
            value={accountId}
            onValue={(next) => void navigate({ search: { account: next }, replace: true })}
          />
        }
      />
      <div key={accountId} className="flex flex-col gap-6">
        <MembersCard accountId={accountId} manages={manages} />
        {manages ? (
          <>
            <InvitationList
              path={`accounts/${accountId}/invitations`}
              title="Invitations"
              note="Links that let somebody join, once each."
              withRoles
            />
            <NameCard account={account} />
          </>
        ) : null}
        <RolesCard />
      </div>
    </>
  );
}

function useMembers(accountId: string) {
  return useQuery({
    queryKey: ["members", accountId],
    queryFn: ({ signal }) =>
      request<{ readonly items: readonly Member[] }>(
        "GET",
        `accounts/${accountId}/members`,
        undefined,
        signal,
      ),
  });
}

function MembersCard({
  accountId,
  manages,
}: {
  readonly accountId: string;
  readonly manages: boolean;
}) {
  const members = useMembers(accountId);
  const me = useMe()?.user.id;
  const client = useQueryClient();
  const [leaving, setLeaving] = useState<Member | null>(null);
  const refresh = (): void => {
    void client.invalidateQueries({ queryKey: ["members", accountId] });
    void client.invalidateQueries({ queryKey: meQuery.queryKey });
  };
  const change = useAction(
    (userId: string, role: string) =>
      request("PATCH", `accounts/${accountId}/members/${userId}`, { role }),
    () => {
      say("The role is changed.");
      refresh();
    },
  );
  const failure = members.error ?? change.failure;
  return (
    <Card flush title="Members">
      {failure === null ? null : <FailureNote failure={failure} />}
      {members.data === undefined ? (
        members.error === null ? (
          <Loading />
        ) : null
      ) : (
        <Table
          caption="Members"
          columns={[
            { name: "Who" },
            { name: "Role" },
            { name: "Joined", wideOnly: true },
            { name: "Actions", silent: true, end: true },
          ]}
        >
          {members.data.items.map((member) => (
            <Row key={member.userId}>
              <Cell className="max-w-72">
                <span className="flex flex-wrap items-center gap-2">
                  <span dir="auto" className="font-medium break-words">
                    {member.name}
                  </span>
                  {member.userId === me ? <Badge>you</Badge> : null}
                </span>
                <span className="block text-xs break-all text-quiet">{member.email}</span>
              </Cell>
              <Cell>
                {manages ? (
                  <Select
                    aria-label={`Role of ${member.name}`}
                    disabled={change.busy}
                    value={member.role}
                    onValue={(role) => change.run(member.userId, role)}
                    options={ROLES.map((role) => ({ value: role, label: role }))}
                  />
                ) : (
                  member.role
                )}
              </Cell>
              <Cell wideOnly>
                <Ago at={member.joinedAt} />
              </Cell>
              <Cell end>
                {manages || member.userId === me ? (
                  <Button small kind="quiet" onClick={() => setLeaving(member)}>
                    {member.userId === me ? "Leave…" : "Remove…"}
                  </Button>
                ) : null}
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {leaving === null ? null : (
        <RemoveMember
          accountId={accountId}
          member={leaving}
          isMe={leaving.userId === me}
          onDone={refresh}
          onClose={() => setLeaving(null)}
        />
      )}
    </Card>
  );
}

function RemoveMember({
  accountId,
  member,
  isMe,
  onDone,
  onClose,
}: {
  readonly accountId: string;
  readonly member: Member;
  readonly isMe: boolean;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  const remove = useAction(
    () => request("DELETE", `accounts/${accountId}/members/${member.userId}`),
    () => {
      say(isMe ? "You have left." : "The member is removed.");
      onDone();
      onClose();
    },
  );
  return (
    <Confirm
      title={isMe ? "Leave this account?" : "Remove this member?"}
      action={isMe ? "Leave" : "Remove"}
      typed={member.email}
      busy={remove.busy}
      failure={remove.failure}
      onConfirm={() => remove.run()}
      onClose={onClose}
    >
      <p>
        {isMe ? "You lose" : <bdi>{member.name}</bdi>} {isMe ? "" : "loses "}every project of this
        account at once. Keys that were made stay as they are: revoke them if they are not needed.
      </p>
    </Confirm>
  );
}

function NameCard({ account }: { readonly account: OwnAccount }) {
  const client = useQueryClient();
  const [name, setName] = useState(account.name);
  const change = useAction(
    () => request("PATCH", `accounts/${account.accountId}`, { name: name.trim() }),
    () => {
      say("The account is renamed.");
      void client.invalidateQueries({ queryKey: meQuery.queryKey });
    },
  );
  return (
    <Card title="Name of the account">
      <form
        className="flex max-w-md flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          change.run();
        }}
      >
        <div className="min-w-0 flex-1 basis-56">
          <TextField label="Name" required maxLength={64} value={name} onValue={setName} />
        </div>
        <Button type="submit" busy={change.busy} disabled={name.trim() === account.name}>
          Rename
        </Button>
      </form>
      {change.failure === null ? null : <FailureNote failure={change.failure} />}
    </Card>
  );
}

function RolesCard() {
  return (
    <Card title="What the roles may do">
      <dl className="grid gap-x-6 gap-y-2 text-sm sm:grid-cols-[max-content_1fr]">
        {ROLES.map((role) => (
          <div key={role} className="contents">
            <dt className="font-medium">{role}</dt>
            <dd className="text-quiet">{ROLE_WORDS[role]}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
