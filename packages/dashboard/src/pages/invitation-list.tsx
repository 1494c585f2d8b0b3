import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReactNode } from "react";
import { useAction } from "../api/action.tsx";
import { request } from "../api/client.ts";
import { useFeatures } from "../api/session.ts";
import type { Role } from "../api/shapes.ts";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { CopyLine } from "../ui/copy.tsx";
import { Dialog, DialogActions } from "../ui/dialog.tsx";
import { Field, Select, TextField } from "../ui/field.tsx";
import { Empty, FailureNote, Loading, Notice } from "../ui/notice.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";
import { say } from "../ui/toast.tsx";
import { ROLES, ROLE_WORDS } from "./roles.ts";

type Invitation = {
  readonly invitationId: string;
  readonly role: Role;
  readonly note: string | null;
  readonly expiresAt: string;
};
type Made = { readonly url: string; readonly mailed: boolean };

type InvitationListProps = {
  /** Where they are: `accounts/…/invitations`, or the operator's. */
  readonly path: string;
  readonly title: string;
  readonly note: ReactNode;
  /** Whether the inviter chooses a role; an account of one's own has only an owner. */
  readonly withRoles: boolean;
};

/** Open invitations, and new ones as links to pass on. */
export function InvitationList({ path, title, note, withRoles }: InvitationListProps) {
  const queryKey = ["invitations", path];
  const list = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      request<{ readonly items: readonly Invitation[] }>("GET", path, undefined, signal),
  });
  const client = useQueryClient();
  const [isMaking, setIsMaking] = useState(false);
  const revoke = useAction(
    (id: string) => request("DELETE", `${path}/${id}`),
    () => {
      say("The invitation is taken back.");
      void client.invalidateQueries({ queryKey });
    },
  );
  const failure = list.error ?? revoke.failure;
  return (
    <Card
      flush
      title={title}
      note={note}
      actions={
        <Button small onClick={() => setIsMaking(true)}>
          Invite…
        </Button>
      }
    >
      {failure === null ? null : <FailureNote failure={failure} />}
      {list.data === undefined ? (
        list.error === null ? (
          <Loading lines={2} />
        ) : null
      ) : list.data.items.length === 0 ? (
        <Empty title="No open invitations" />
      ) : (
        <Table
          caption={title}
          columns={[
            { name: "For" },
            ...(withRoles ? [{ name: "Role" }] : []),
            { name: "Ends" },
            { name: "Actions", silent: true, end: true },
          ]}
        >
          {list.data.items.map((invitation) => (
            <Row key={invitation.invitationId}>
              <Cell dir="auto" className="max-w-64 break-words">
                {invitation.note ?? <span className="text-quiet">whoever has the link</span>}
              </Cell>
              {withRoles ? <Cell>{invitation.role}</Cell> : null}
              <Cell>
                <Ago at={invitation.expiresAt} />
              </Cell>
              <Cell end>
                <Button small kind="quiet" onClick={() => revoke.run(invitation.invitationId)}>
                  Take back
                </Button>
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {isMaking ? (
        <InviteDialog
          path={path}
          withRoles={withRoles}
          onMade={() => void client.invalidateQueries({ queryKey })}
          onClose={() => setIsMaking(false)}
        />
      ) : null}
    </Card>
  );
}

function InviteDialog({
  path,
  withRoles,
  onMade,
  onClose,
}: {
  readonly path: string;
  readonly withRoles: boolean;
  readonly onMade: () => void;
  readonly onClose: () => void;
}) {
  const mail = useFeatures()?.mail === true;
  const [role, setRole] = useState<Role>("developer");
  const [who, setWho] = useState("");
  const [made, setMade] = useState<Made | null>(null);
  const text = who.trim();
  const invite = useAction(
    () =>
      request<Made>("POST", path, {
        ...(withRoles ? { role } : {}),
        ...(text === "" ? {} : mail && text.includes("@") ? { email: text } : { note: text }),
      }),
    (answer) => {
      setMade(answer);
      onMade();
    },
  );
  if (made !== null) return <MadeDialog made={made} onClose={onClose} />;
  return (
    <Dialog
      open
      title="Invite somebody"
      note={
        mail
          ? "They get the link by mail if you give an address; you are shown it in any case."
          : "This Relay sends no mail: you get a link to pass on yourself."
      }
      onClose={onClose}
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          invite.run();
        }}
      >
        <TextField
          label={mail ? "E-mail, or a note for yourself" : "Note for yourself, such as a name"}
          maxLength={128}
          autoFocus
          value={who}
          onValue={setWho}
        />
        {withRoles ? (
          <Field label="Role" hint={`May do ${ROLE_WORDS[role]}`}>
            {(ids) => (
              <Select
                {...ids}
                value={role}
                onValue={(value) => setRole(ROLES.find((name) => name === value) ?? "developer")}
                options={ROLES.map((name) => ({ value: name, label: name }))}
              />
            )}
          </Field>
        ) : null}
        {invite.failure === null ? null : <FailureNote failure={invite.failure} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={invite.busy}>
            Make the invitation
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function MadeDialog({ made, onClose }: { readonly made: Made; readonly onClose: () => void }) {
  return (
    <Dialog open title="The invitation is made" onClose={onClose}>
      {made.mailed ? <Notice tone="good">A letter with the link is on its way.</Notice> : null}
      <CopyLine title="Invitation link: works once, for 7 days" text={made.url} />
      <p className="text-sm text-quiet">
        Whoever has it gets in, so pass it on to nobody else. It is shown this once.
      </p>
      <DialogActions>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
