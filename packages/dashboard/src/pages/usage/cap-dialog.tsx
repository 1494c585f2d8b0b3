import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { Check, TextField } from "../../ui/field.tsx";
import { FailureNote } from "../../ui/notice.tsx";
import { say } from "../../ui/toast.tsx";

const MICROS = 1_000_000;

/** Sets what a month may cost at most. */
export function CapDialog({
  projectId,
  capMicros,
  onClose,
}: {
  readonly projectId: string;
  readonly capMicros: number | null;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const [text, setText] = useState(capMicros === null ? "" : String(capMicros / MICROS));
  const [isUnlimited, setIsUnlimited] = useState(capMicros === null);
  const change = useAction(
    () =>
      request("PATCH", `projects/${projectId}`, {
        spendCapMicros: isUnlimited ? null : Math.round(Number(text) * MICROS),
      }),
    () => {
      say("The cap is changed.");
      void client.invalidateQueries({ queryKey: ["project", projectId] });
      onClose();
    },
  );
  return (
    <Dialog
      open
      title="Spend cap a month"
      note="Past it, calls are refused and hosts are told so. Lowering it bills nothing back; 0 leaves the free calls alone."
      onClose={onClose}
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          change.run();
        }}
      >
        <TextField
          label="Cap"
          inputMode="decimal"
          pattern="\d+(\.\d{1,6})?"
          title="An amount such as 12.50"
          required={!isUnlimited}
          disabled={isUnlimited}
          value={text}
          onValue={setText}
        />
        <Check
          label="No cap: only the balance is a bound"
          checked={isUnlimited}
          onChecked={setIsUnlimited}
        />
        {change.failure === null ? null : <FailureNote failure={change.failure} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={change.busy}>
            Set the cap
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
