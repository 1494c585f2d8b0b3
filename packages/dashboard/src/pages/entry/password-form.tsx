import { useState } from "react";
import type { ReactNode } from "react";
import type { Action } from "../../api/action.tsx";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { FailureNote } from "../../ui/notice.tsx";

export const PASSWORD_CHARS_MIN = 10;

export type Person = { readonly name: string; readonly email: string; readonly password: string };

/** Name, e-mail and password of somebody new. */
export function PersonForm({
  create,
  submit,
  email: givenEmail = "",
  children,
}: {
  readonly create: Action<[Person]>;
  readonly submit: string;
  readonly email?: string;
  readonly children?: ReactNode;
}) {
  const [name, setName] = useState("");
  const [email, setEmail] = useState(givenEmail);
  const [password, setPassword] = useState("");
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        create.run({ name: name.trim(), email: email.trim(), password });
      }}
    >
      {children}
      <TextField
        label="Your name"
        autoComplete="name"
        required
        maxLength={64}
        autoFocus
        value={name}
        onValue={setName}
      />
      <TextField
        label="E-mail"
        type="email"
        dir="ltr"
        autoComplete="username"
        required
        value={email}
        onValue={setEmail}
      />
      <TextField
        label="Password"
        hint={`At least ${PASSWORD_CHARS_MIN} characters; a long one is better than an odd one.`}
        type="password"
        autoComplete="new-password"
        required
        minLength={PASSWORD_CHARS_MIN}
        maxLength={128}
        value={password}
        onValue={setPassword}
      />
      {create.failure === null ? null : <FailureNote failure={create.failure} />}
      <Button type="submit" kind="primary" busy={create.busy}>
        {submit}
      </Button>
    </form>
  );
}
