import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { TextField } from "../../ui/field.tsx";
import { FailureNote } from "../../ui/notice.tsx";
import { say } from "../../ui/toast.tsx";
import { PASSWORD_CHARS_MIN } from "../entry/password-form.tsx";

/** A new password; every other session ends with it. */
export function PasswordCard() {
  const client = useQueryClient();
  const [currentPassword, setCurrent] = useState("");
  const [newPassword, setNew] = useState("");
  const change = useAction(
    () => request("POST", "auth/change-password", { currentPassword, newPassword }),
    () => {
      setCurrent("");
      setNew("");
      say("The password is changed; all other sessions are signed out.");
      void client.invalidateQueries({ queryKey: ["sessions"] });
    },
  );
  return (
    <Card title="Password" note="Changing it signs out every other session.">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          change.run();
        }}
      >
        <TextField
          label="Password now"
          type="password"
          autoComplete="current-password"
          required
          value={currentPassword}
          onValue={setCurrent}
        />
        <TextField
          label="New password"
          hint={`At least ${PASSWORD_CHARS_MIN} characters.`}
          type="password"
          autoComplete="new-password"
          required
          minLength={PASSWORD_CHARS_MIN}
          maxLength={128}
          value={newPassword}
          onValue={setNew}
        />
        {change.failure === null ? null : <FailureNote failure={change.failure} />}
        <div>
          <Button type="submit" kind="primary" busy={change.busy}>
            Change the password
          </Button>
        </div>
      </form>
    </Card>
  );
}
