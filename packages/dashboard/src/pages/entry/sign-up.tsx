import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { featuresQuery, signInWithGitHub, signUp } from "../../api/session.ts";
import { BASE_PATH } from "../../base-path.ts";
import { EntryFrame } from "../../shell/entry-frame.tsx";
import { Button } from "../../ui/button.tsx";
import { FailureNote, Loading, Notice } from "../../ui/notice.tsx";
import { PersonForm } from "./password-form.tsx";
import type { Person } from "./password-form.tsx";
import { useEnter } from "./use-enter.ts";

/** Makes an account of one's own, where this Relay is open to everybody. */
export function SignUpPage() {
  const features = useQuery(featuresQuery).data;
  const enter = useEnter();
  const [isToConfirm, setIsToConfirm] = useState(false);
  const create = useAction(
    (person: Person) => signUp(person),
    ({ entered }) => (entered ? enter() : setIsToConfirm(true)),
  );
  const below = (
    <p>
      You have an account?{" "}
      <Link to="/sign-in" className="text-ink underline">
        Sign in
      </Link>
    </p>
  );
  if (features === undefined) return <Loading />;
  if (isToConfirm) {
    return (
      <EntryFrame title="Look into your mail" below={below}>
        <Notice tone="good">
          If this address is new here, a link to confirm it is on its way. Sign in once you have
          followed it.
        </Notice>
      </EntryFrame>
    );
  }
  if (features.signUp === "invited") {
    return (
      <EntryFrame title="By invitation" below={below}>
        <Notice tone="info">
          This Relay takes people by invitation. Ask somebody who is in for an invitation link: they
          make one on their Team page.
        </Notice>
      </EntryFrame>
    );
  }
  return (
    <EntryFrame title="Make an account" below={below}>
      <PersonForm create={create} submit="Make the account" />
      {features.github ? <GitHubSignUp /> : null}
    </EntryFrame>
  );
}

function GitHubSignUp() {
  const github = useAction(() => signInWithGitHub(BASE_PATH, true));
  return (
    <div className="flex flex-col gap-3 border-t border-line pt-6">
      <Button busy={github.busy} onClick={() => github.run()}>
        Sign up with GitHub
      </Button>
      {github.failure === null ? null : <FailureNote failure={github.failure} />}
    </div>
  );
}
