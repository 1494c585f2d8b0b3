import { useState } from "react";
import { useAction } from "../api/action.tsx";
import { request } from "../api/client.ts";
import { Button } from "../ui/button.tsx";
import { Dialog, DialogActions } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { FailureNote } from "../ui/notice.tsx";

/** Asks for the password again, before something that a borrowed screen must not be able to do. */
export default function AskAgainDialog({
  onClose,
}: {
  readonly onClose: (given: boolean) => void;
}) {
  const [password, setPassword] = useState("");
  const give = useAction(
    () => request("POST", "reauthenticate", { password }),
    () => onClose(true),
  );
  return (
    <Dialog
      open
      title="Your password, please"
      note="Keys, members and deletion want it again when it was last typed over 15 minutes ago."
      onClose={() => onClose(false)}
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          give.run();
        }}
      >
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          autoFocus
          required
          value={password}
          onValue={setPassword}
        />
        {give.failure === null ? null : <FailureNote failure={give.failure} />}
        <DialogActions>
          <Button onClick={() => onClose(false)}>Cancel</Button>
          <Button type="submit" kind="primary" busy={give.busy}>
            Go on
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
