import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { meQuery } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { TextField } from "../../ui/field.tsx";
import { FailureNote } from "../../ui/notice.tsx";
import { say } from "../../ui/toast.tsx";

/** The name that others in the team see. */
export function NameCard({ name: known }: { readonly name: string }) {
  const client = useQueryClient();
  const [name, setName] = useState(known);
  const change = useAction(
    () => request("POST", "auth/update-user", { name: name.trim() }),
    () => {
      say("Your name is changed.");
      void client.invalidateQueries({ queryKey: meQuery.queryKey });
    },
  );
  return (
    <Card title="Name">
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          change.run();
        }}
      >
        <div className="min-w-0 flex-1 basis-56">
          <TextField
            label="Your name"
            required
            maxLength={64}
            autoComplete="name"
            value={name}
            onValue={setName}
          />
        </div>
        <Button type="submit" busy={change.busy} disabled={name.trim() === known}>
          Change it
        </Button>
      </form>
      {change.failure === null ? null : <FailureNote failure={change.failure} />}
    </Card>
  );
}
