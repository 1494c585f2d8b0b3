import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ReactNode } from "react";
import { useAction } from "../../api/action.tsx";
import { ApiFailure, request } from "../../api/client.ts";
import { meQuery, signOut, signUp } from "../../api/session.ts";
import type { Role } from "../../api/shapes.ts";
import { EntryFrame } from "../../shell/entry-frame.tsx";
import { Button } from "../../ui/button.tsx";
import { FailureNote, Loading, Notice } from "../../ui/notice.tsx";
import { ROLE_WORDS } from "../roles.ts";
import { PersonForm } from "./password-form.tsx";
import type { Person } from "./password-form.tsx";
import { useFragmentToken } from "./secret-fragment.ts";
import { useEnter } from "./use-enter.ts";

/** What an invitation is for; without a name it is to this Relay, with an account of one's own. */
type Offered = { readonly accountName: string | null; readonly role: Role };

/** Joins an account by its invitation link: with the account one has, or with a new one. */
export function InvitationPage() {
  const token = useFragmentToken();
  const me = useQuery(meQuery);
  const offered = useQuery({
    queryKey: ["invitation", token],
    queryFn: ({ signal }) => request<Offered>("POST", "invitations/look", { token }, signal),
    enabled: token !== null,
    retry: false,
  });
  if (token === null || offered.error !== null) {
    const isOver =
      token === null || (offered.error instanceof ApiFailure && offered.error.status === 404);
    return (
      <EntryFrame title="This invitation does not work">
        {isOver || offered.error === null ? (
          <Notice tone="warn">
            It was used or withdrawn, or it is too old. Ask for a new link.
          </Notice>
        ) : (
          <FailureNote failure={offered.error} onRetry={() => void offered.refetch()} />
        )}
      </EntryFrame>
    );
  }
  if (offered.data === undefined || me.data === undefined) return <Loading />;
  const note = <OfferedWords offered={offered.data} />;
  return me.data === null ? (
    <JoinAnew token={token} note={note} />
  ) : (
    <JoinAs token={token} note={note} email={me.data.user.email} />
  );
}

function OfferedWords({ offered: { accountName, role } }: { readonly offered: Offered }) {
  if (accountName === null) return "You are invited to this Relay, with an account of your own.";
  return (
    <>
      You are invited to <bdi className="font-medium text-ink">{accountName}</bdi> as {role}:{" "}
      {ROLE_WORDS[role]}
    </>
  );
}

type JoinProps = { readonly token: string; readonly note: ReactNode };

function accept(token: string): Promise<unknown> {
  return request("POST", "invitations", { token });
}

function JoinAnew({ token, note }: JoinProps) {
  const enter = useEnter();
  const [isKnown, setIsKnown] = useState(false);
  const create = useAction(
    async (person: Person) => {
      const made = await signUp(person, token);
      if (made.entered) await accept(token);
      return made;
    },
    ({ entered }) => (entered ? enter() : setIsKnown(true)),
  );
  const below = (
    <p>
      You have an account here?{" "}
      <Link to="/sign-in" className="text-ink underline">
        Sign in
      </Link>
      , then open this invitation’s link again.
    </p>
  );
  return (
    <EntryFrame title="Join" note={note} below={below}>
      {isKnown ? (
        <Notice tone="warn">
          This address and password do not get in. If you have an account with this address, sign in
          with it; if a letter came, confirm the address first. The invitation stays open.
        </Notice>
      ) : null}
      <PersonForm create={create} submit="Make an account and join" />
    </EntryFrame>
  );
}

function JoinAs({ token, note, email }: JoinProps & { readonly email: string }) {
  const enter = useEnter();
  const join = useAction(() => accept(token), enter);
  const client = useQueryClient();
  const leave = useAction(signOut, () => client.setQueryData(meQuery.queryKey, null));
  return (
    <EntryFrame title="Join" note={note}>
      <p className="text-sm">
        You are signed in as <span className="break-all">{email}</span>.
      </p>
      {join.failure === null ? null : <FailureNote failure={join.failure} />}
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" busy={join.busy} onClick={() => join.run()}>
          Join
        </Button>
        <Button busy={leave.busy} onClick={() => leave.run()}>
          Use another account
        </Button>
      </div>
    </EntryFrame>
  );
}
