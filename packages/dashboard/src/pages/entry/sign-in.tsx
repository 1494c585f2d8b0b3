import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { canUsePasskeys, signInWithPasskey } from "../../api/passkeys.ts";
import { featuresQuery, signIn, signInWithGitHub } from "../../api/session.ts";
import type { Features } from "../../api/shapes.ts";
import { BASE_PATH } from "../../base-path.ts";
import { EntryFrame } from "../../shell/entry-frame.tsx";
import { Leave } from "../../shell/leave.tsx";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { FailureNote, Loading, Notice } from "../../ui/notice.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { githubWords } from "./github-words.ts";
import { ownPath, useEnter } from "./use-enter.ts";

/** Sign-in: password, then a second factor where there is one; passkey and GitHub where they are on. */
export function SignInPage() {
  const features = useQuery(featuresQuery);
  const { next, error } = useSearch({ from: "/sign-in" });
  const enter = useEnter(next);
  const [step, setStep] = useState<"password" | "second">("password");
  if (features.error !== null) {
    return (
      <EntryFrame title="Sign in">
        <FailureNote failure={features.error} onRetry={() => void features.refetch()} />
      </EntryFrame>
    );
  }
  if (features.data === undefined) return <Loading />;
  if (features.data.setUpNeeded) return <Leave to="/setup" />;
  if (step === "second") {
    return <SecondFactor onDone={enter} onBack={() => setStep("password")} />;
  }
  return (
    <EntryFrame title="Sign in" below={<Newcomers features={features.data} />}>
      {error === undefined ? null : <Notice tone="warn">{githubWords(error)}</Notice>}
      <PasswordStep onDone={enter} onSecondFactor={() => setStep("second")} />
      <OtherWays features={features.data} onDone={enter} next={next} />
    </EntryFrame>
  );
}

function PasswordStep({
  onDone,
  onSecondFactor,
}: {
  readonly onDone: () => void;
  readonly onSecondFactor: () => void;
}) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const enter = useAction(
    () => signIn(email.trim(), password),
    ({ twoFactorRedirect }) => (twoFactorRedirect === true ? onSecondFactor() : onDone()),
  );
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        enter.run();
      }}
    >
      <TextField
        label="E-mail"
        type="email"
        dir="ltr"
        autoComplete="username"
        required
        autoFocus
        value={email}
        onValue={setEmail}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onValue={setPassword}
      />
      {enter.failure === null ? null : <FailureNote failure={enter.failure} />}
      <Button type="submit" kind="primary" busy={enter.busy}>
        Sign in
      </Button>
      <Link to="/forgot-password" className="text-sm text-quiet underline hover:text-ink">
        Forgot the password?
      </Link>
    </form>
  );
}

function OtherWays({
  features,
  onDone,
  next,
}: {
  readonly features: Features;
  readonly onDone: () => void;
  readonly next: string | undefined;
}) {
  const passkey = useAction(signInWithPasskey, onDone);
  const github = useAction(() => signInWithGitHub(ownPath(next) ?? BASE_PATH));
  const hasPasskeys = features.passkeys && canUsePasskeys();
  if (!hasPasskeys && !features.github) return null;
  const failure = passkey.failure ?? github.failure;
  return (
    <div className="flex flex-col gap-3 border-t border-line pt-6">
      {hasPasskeys ? (
        <Button busy={passkey.busy} onClick={() => passkey.run()}>
          Sign in with a passkey
        </Button>
      ) : null}
      {features.github ? (
        <Button busy={github.busy} onClick={() => github.run()}>
          Sign in with GitHub
        </Button>
      ) : null}
      {failure === null ? null : <FailureNote failure={failure} />}
    </div>
  );
}

function Newcomers({ features }: { readonly features: Features }) {
  return features.signUp === "open" ? (
    <p>
      New here?{" "}
      <Link to="/sign-up" className="text-ink underline">
        Make an account
      </Link>
    </p>
  ) : (
    <p>New here? Somebody who is in can send you an invitation link.</p>
  );
}
