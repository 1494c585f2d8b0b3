import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { featuresQuery } from "../../api/session.ts";
import { EntryFrame } from "../../shell/entry-frame.tsx";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { FailureNote, Loading, Notice } from "../../ui/notice.tsx";
import { PASSWORD_CHARS_MIN } from "./password-form.tsx";
import { useFragmentToken } from "./secret-fragment.ts";

const BACK = (
  <Link to="/sign-in" className="text-ink underline">
    Back to the sign-in
  </Link>
);

/** Sends a link to a new password, or says how to get one where Relay sends no mail. */
export function ForgotPasswordPage() {
  const features = useQuery(featuresQuery).data;
  const [email, setEmail] = useState("");
  const [isSent, setIsSent] = useState(false);
  const send = useAction(
    () => request("POST", "auth/request-password-reset", { email: email.trim() }),
    () => setIsSent(true),
  );
  if (features === undefined) return <Loading />;
  if (!features.mail) return <MailIsOff />;
  if (isSent) {
    return (
      <EntryFrame title="Look into your mail" below={BACK}>
        <Notice tone="good">
          If there is an account with this address, a link to a new password is on its way.
        </Notice>
      </EntryFrame>
    );
  }
  return (
    <EntryFrame title="A new password" note="Relay sends a link to your address." below={BACK}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          send.run();
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
        {send.failure === null ? null : <FailureNote failure={send.failure} />}
        <Button type="submit" kind="primary" busy={send.busy}>
          Send the link
        </Button>
      </form>
    </EntryFrame>
  );
}

function MailIsOff() {
  return (
    <EntryFrame title="A new password" below={BACK}>
      <Notice tone="info" title="This Relay sends no mail">
        <p>So nobody can get a link to a new password by themselves. Ask the operator, who runs</p>
        <code className="my-2 block break-all">npm run relay -- user reset-password EMAIL</code>
        <p>on the machine that Relay runs on, and gives you the link it prints.</p>
      </Notice>
    </EntryFrame>
  );
}

/** Sets a new password with the token of such a link. */
export function ResetPasswordPage() {
  const { token: sent, error } = useSearch({ from: "/reset-password" });
  const token = useFragmentToken() ?? sent ?? null;
  const [newPassword, setNewPassword] = useState("");
  const [isDone, setIsDone] = useState(false);
  const reset = useAction(
    () => request("POST", "auth/reset-password", { token, newPassword }),
    () => setIsDone(true),
  );
  if (isDone) {
    return (
      <EntryFrame title="The password is changed">
        <Link to="/sign-in" className={buttonClasses("primary")}>
          Sign in
        </Link>
      </EntryFrame>
    );
  }
  if (token === null || error !== undefined) {
    return (
      <EntryFrame title="This link does not work any more" below={BACK}>
        <Notice tone="warn">It was used, or it is too old. Ask for a new one.</Notice>
      </EntryFrame>
    );
  }
  return (
    <EntryFrame title="Choose a new password" below={BACK}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          reset.run();
        }}
      >
        <TextField
          label="New password"
          hint={`At least ${PASSWORD_CHARS_MIN} characters.`}
          type="password"
          autoComplete="new-password"
          required
          minLength={PASSWORD_CHARS_MIN}
          maxLength={128}
          autoFocus
          value={newPassword}
          onValue={setNewPassword}
        />
        {reset.failure === null ? null : <FailureNote failure={reset.failure} />}
        <Button type="submit" kind="primary" busy={reset.busy}>
          Change the password
        </Button>
      </form>
    </EntryFrame>
  );
}
