import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { money, shortId } from "../../ui/format.ts";
import { FailureNote } from "../../ui/notice.tsx";
import { say } from "../../ui/toast.tsx";
import { accountsQuery } from "./operator-queries.ts";
import type { Account } from "./operator-queries.ts";

const MICROS = 1_000_000;

/** Books credit for an account; the same source key is booked once. */
export function CreditDialog({
  account,
  onClose,
}: {
  readonly account: Account;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const [amount, setAmount] = useState("");
  const [note, setNote] = useState("");
  // A second press, or a try after a lost answer, books nothing twice.
  const [sourceKey, setSourceKey] = useState(() => `dashboard:${crypto.randomUUID()}`);
  const book = useAction(
    () =>
      request<{ readonly booked: boolean }>(
        "POST",
        `operator/accounts/${account.accountId}/credits`,
        { amountMicros: Math.round(Number(amount) * MICROS), sourceKey: sourceKey.trim(), note },
      ),
    ({ booked }) => {
      say(booked ? "The credit is booked." : "This source was booked before; nothing changed.");
      void client.invalidateQueries({ queryKey: accountsQuery.queryKey });
      onClose();
    },
  );
  return (
    <Dialog
      open
      title={
        <>
          Book credit for{" "}
          <bdi>{account.name === "" ? shortId(account.accountId) : account.name}</bdi>
        </>
      }
      note={`Its balance is ${money(account.balanceMicros)}. A negative amount takes credit back.`}
      onClose={onClose}
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          book.run();
        }}
      >
        <TextField
          label="Amount"
          inputMode="decimal"
          pattern="-?\d+(\.\d{1,6})?"
          title="An amount such as 12.50"
          required
          autoFocus
          value={amount}
          onValue={setAmount}
        />
        <TextField label="Note" maxLength={500} value={note} onValue={setNote} />
        <TextField
          label="Source key"
          hint="What this credit is for, such as a payment’s id. The same one is booked once."
          required
          maxLength={200}
          dir="ltr"
          value={sourceKey}
          onValue={setSourceKey}
        />
        {book.failure === null ? null : <FailureNote failure={book.failure} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={book.busy}>
            Book it
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
