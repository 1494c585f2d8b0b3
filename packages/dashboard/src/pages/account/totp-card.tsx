import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { meQuery } from "../../api/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock, CopyLine } from "../../ui/copy.tsx";
import { TextField } from "../../ui/field.tsx";
import { FailureNote, Notice } from "../../ui/notice.tsx";
import { say } from "../../ui/toast.tsx";
import { QrCode } from "../links/qr-code.tsx";

type Enrolment = { readonly totpURI: string; readonly backupCodes: readonly string[] };

/** A second step at sign-in: six digits of an authenticator app. */
export function TotpCard({ isOn }: { readonly isOn: boolean }) {
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null);
  return (
    <Card
      title={
        <span className="inline-flex items-center gap-2">
          Second step {isOn ? <Badge tone="good">on</Badge> : <Badge>off</Badge>}
        </span>
      }
      note="After the password, six digits of an authenticator app."
    >
      {enrolment !== null ? (
        <Enrol enrolment={enrolment} onDone={() => setEnrolment(null)} />
      ) : (
        <PasswordStep isOn={isOn} onEnrol={setEnrolment} />
      )}
    </Card>
  );
}

function PasswordStep({
  isOn,
  onEnrol,
}: {
  readonly isOn: boolean;
  readonly onEnrol: (enrolment: Enrolment) => void;
}) {
  const client = useQueryClient();
  const [password, setPassword] = useState("");
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const clear = (): void => setPassword("");
  const enable = useAction(
    () => request<Enrolment>("POST", "auth/two-factor/enable", { password }),
    onEnrol,
  );
  const renew = useAction(
    () =>
      request<Pick<Enrolment, "backupCodes">>("POST", "auth/two-factor/generate-backup-codes", {
        password,
      }),
    ({ backupCodes }) => {
      clear();
      setCodes(backupCodes);
    },
  );
  const disable = useAction(
    () => request("POST", "auth/two-factor/disable", { password }),
    () => {
      clear();
      say("The second step is off.");
      void client.invalidateQueries({ queryKey: meQuery.queryKey });
    },
  );
  const failure = enable.failure ?? renew.failure ?? disable.failure;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (isOn) disable.run();
        else enable.run();
      }}
    >
      <TextField
        label="Your password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onValue={setPassword}
      />
      {failure === null ? null : <FailureNote failure={failure} />}
      <div className="flex flex-wrap gap-2">
        <Button
          type="submit"
          kind={isOn ? "secondary" : "primary"}
          busy={enable.busy || disable.busy}
        >
          {isOn ? "Switch it off" : "Set it up"}
        </Button>
        {isOn ? (
          <Button busy={renew.busy} disabled={password === ""} onClick={() => renew.run()}>
            New backup codes
          </Button>
        ) : null}
      </div>
      {codes === null ? null : <BackupCodes codes={codes} />}
    </form>
  );
}

function Enrol({
  enrolment,
  onDone,
}: {
  readonly enrolment: Enrolment;
  readonly onDone: () => void;
}) {
  const client = useQueryClient();
  const [code, setCode] = useState("");
  const verify = useAction(
    () => request("POST", "auth/two-factor/verify-totp", { code: code.replaceAll(/\s/g, "") }),
    () => {
      say("The second step is on.");
      void client.invalidateQueries({ queryKey: meQuery.queryKey });
      onDone();
    },
  );
  const secret = new URL(enrolment.totpURI).searchParams.get("secret") ?? "";
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-wrap items-start gap-5">
        <QrCode text={enrolment.totpURI} label="QR code for the authenticator app" />
        <div className="flex min-w-0 flex-1 basis-60 flex-col gap-3">
          <p className="text-sm">Scan this with your authenticator app, or type the key there:</p>
          <CopyLine title="Key" text={secret} />
        </div>
      </div>
      <BackupCodes codes={enrolment.backupCodes} />
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          verify.run();
        }}
      >
        <div className="min-w-0 flex-1 basis-48">
          <TextField
            label="The code it shows now"
            dir="ltr"
            inputMode="numeric"
            autoComplete="one-time-code"
            required
            value={code}
            onValue={setCode}
          />
        </div>
        <Button type="submit" kind="primary" busy={verify.busy}>
          Switch it on
        </Button>
        <Button onClick={onDone}>Not now</Button>
      </form>
      {verify.failure === null ? null : <FailureNote failure={verify.failure} />}
    </div>
  );
}

function BackupCodes({ codes }: { readonly codes: readonly string[] }) {
  return (
    <div className="flex flex-col gap-2">
      <CodeBlock title="Backup codes" code={codes.join("\n")} />
      <Notice tone="warn">
        Shown this once. Each gets you in one time if the authenticator app is lost: keep them
        somewhere else than on that device.
      </Notice>
    </div>
  );
}
