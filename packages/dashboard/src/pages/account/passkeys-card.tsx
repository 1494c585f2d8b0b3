import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { addPasskey, canUsePasskeys } from "../../api/passkeys.ts";
import type { Passkey } from "../../api/passkeys.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { TextField } from "../../ui/field.tsx";
import { FailureNote, Loading } from "../../ui/notice.tsx";
import { Ago } from "../../ui/time.tsx";
import { say } from "../../ui/toast.tsx";

const KEY = ["passkeys"];

/** Passkeys: sign in by the device's own lock, with nothing to type. */
export function PasskeysCard() {
  const client = useQueryClient();
  const passkeys = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) =>
      request<readonly Passkey[]>("GET", "auth/passkey/list-user-passkeys", undefined, signal),
  });
  const remove = useAction(
    (id: string) => request("POST", "auth/passkey/delete-passkey", { id }),
    () => {
      say("The passkey is removed.");
      void client.invalidateQueries({ queryKey: KEY });
    },
  );
  const failure = passkeys.error ?? remove.failure;
  return (
    <Card
      title="Passkeys"
      note="Sign in by the lock of your device: nothing to type, nothing to phish."
    >
      <div className="flex flex-col gap-4">
        {failure === null ? null : <FailureNote failure={failure} />}
        {passkeys.data === undefined ? (
          passkeys.error === null ? (
            <Loading lines={2} />
          ) : null
        ) : passkeys.data.length === 0 ? (
          <p className="text-sm text-quiet">You have none yet.</p>
        ) : (
          <ul className="flex flex-col rounded-md border border-line">
            {passkeys.data.map((passkey) => (
              <li
                key={passkey.id}
                className="flex items-center justify-between gap-2 border-b border-line py-1.5 pr-1.5 pl-3 last:border-b-0"
              >
                <span className="min-w-0">
                  <span dir="auto" className="break-words">
                    {passkey.name ?? "Passkey"}
                  </span>{" "}
                  <span className="text-xs text-quiet">
                    made <Ago at={passkey.createdAt ?? null} never="earlier" />
                  </span>
                </span>
                <Button small kind="quiet" onClick={() => remove.run(passkey.id)}>
                  Remove
                </Button>
              </li>
            ))}
          </ul>
        )}
        {canUsePasskeys() ? (
          <NewPasskey onDone={() => void client.invalidateQueries({ queryKey: KEY })} />
        ) : (
          <p className="text-sm text-quiet">This browser can’t make passkeys.</p>
        )}
      </div>
    </Card>
  );
}

function NewPasskey({ onDone }: { readonly onDone: () => void }) {
  const [name, setName] = useState("");
  const add = useAction(
    () => addPasskey(name.trim()),
    () => {
      setName("");
      say("The passkey is added.");
      onDone();
    },
  );
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        add.run();
      }}
    >
      <div className="min-w-0 flex-1 basis-56">
        <TextField
          label="Name of this device"
          placeholder="Laptop"
          required
          maxLength={64}
          value={name}
          onValue={setName}
        />
      </div>
      <Button type="submit" busy={add.busy}>
        Add a passkey
      </Button>
      {add.failure === null ? null : <FailureNote failure={add.failure} />}
    </form>
  );
}
