import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useAction } from "../../api/action.tsx";
import { ApiFailure, request } from "../../api/client.ts";
import { featuresQuery } from "../../api/session.ts";
import { EntryFrame } from "../../shell/entry-frame.tsx";
import { buttonClasses } from "../../ui/button.tsx";
import { Notice } from "../../ui/notice.tsx";
import { PersonForm } from "./password-form.tsx";
import type { Person } from "./password-form.tsx";
import { useFragmentToken } from "./secret-fragment.ts";
import { useEnter } from "./use-enter.ts";

/** The first person of a new Relay makes its operator's account, with the link that Relay printed. */
export function SetupPage() {
  const token = useFragmentToken();
  const features = useQuery(featuresQuery);
  const enter = useEnter();
  const claim = useAction(
    (person: Person) => request("POST", "setup", { token, ...person }),
    enter,
  );
  const isOver =
    features.data?.setUpNeeded === false ||
    (claim.failure instanceof ApiFailure && claim.failure.status === 404);
  if (isOver) return <SetUpAlready used={features.data?.setUpNeeded === false} />;
  if (token === null) return <NoToken />;
  return (
    <EntryFrame
      title="Set up this Relay"
      note="You are its first person: this makes the operator’s account. It can be done once."
    >
      <PersonForm create={claim} submit="Set up and go on" />
    </EntryFrame>
  );
}

function SetUpAlready({ used }: { readonly used: boolean }) {
  return (
    <EntryFrame title={used ? "This Relay is set up" : "This link does not work any more"}>
      <Notice tone="warn">
        {used
          ? "Its operator has an account, and a set-up link works once."
          : "It was used, or it is over 30 minutes old. On the machine that runs Relay, start it again or run:"}
        {used ? null : <code className="mt-2 block">npm run relay -- setup-link</code>}
      </Notice>
      <Link to="/sign-in" className={buttonClasses("primary")}>
        Sign in
      </Link>
    </EntryFrame>
  );
}

function NoToken() {
  return (
    <EntryFrame
      title="This Relay is not set up yet"
      note="Relay printed a link when it started. Open that one: it proves that you run this machine."
    >
      <div className="flex flex-col gap-2 text-sm">
        <p>It is gone? This prints a new one, on the same machine:</p>
        <code className="rounded-md border border-line bg-sunken px-3 py-2">
          npm run relay -- setup-link
        </code>
      </div>
    </EntryFrame>
  );
}
