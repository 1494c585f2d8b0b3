import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { EntryFrame } from "../../shell/entry-frame.tsx";
import { Button } from "../../ui/button.tsx";
import { Check, TextField } from "../../ui/field.tsx";
import { FailureNote } from "../../ui/notice.tsx";

/** The second step of a sign-in: a code of the authenticator app, or one of the backup codes. */
export function SecondFactor({
  onDone,
  onBack,
}: {
  readonly onDone: () => void;
  readonly onBack: () => void;
}) {
  const [code, setCode] = useState("");
  const [isBackup, setIsBackup] = useState(false);
  const [trustDevice, setTrustDevice] = useState(false);
  const path = isBackup ? "auth/two-factor/verify-backup-code" : "auth/two-factor/verify-totp";
  const verify = useAction(
    () => request("POST", path, { code: code.replaceAll(/\s/g, ""), trustDevice }),
    onDone,
  );
  return (
    <EntryFrame
      title="Second step"
      note={
        isBackup
          ? "Type one of the backup codes you kept. Each works once."
          : "Type the six digits that your authenticator app shows now."
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          verify.run();
        }}
      >
        <TextField
          key={String(isBackup)}
          label={isBackup ? "Backup code" : "Code"}
          dir="ltr"
          inputMode={isBackup ? "text" : "numeric"}
          autoComplete="one-time-code"
          required
          autoFocus
          value={code}
          onValue={setCode}
        />
        <Check
          label="Do not ask on this device for 30 days"
          checked={trustDevice}
          onChecked={setTrustDevice}
        />
        {verify.failure === null ? null : <FailureNote failure={verify.failure} />}
        <Button type="submit" kind="primary" busy={verify.busy}>
          Sign in
        </Button>
        <div className="flex flex-wrap justify-between gap-2">
          <Button
            kind="quiet"
            small
            onClick={() => {
              setIsBackup(!isBackup);
              setCode("");
            }}
          >
            {isBackup ? "Use the app’s code" : "Use a backup code"}
          </Button>
          <Button kind="quiet" small onClick={onBack}>
            Back
          </Button>
        </div>
      </form>
    </EntryFrame>
  );
}
