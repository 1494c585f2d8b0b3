import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { useFeatures } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { Check, TextField } from "../../ui/field.tsx";
import { FailureNote } from "../../ui/notice.tsx";
import { say } from "../../ui/toast.tsx";
import { operatorProjectsQuery } from "./operator-queries.ts";
import type { OperatorProject } from "./operator-queries.ts";

const MICROS = 1_000_000;

/** Sets a project's free calls and price, from now on. */
export function TermsDialog({
  project,
  onClose,
}: {
  readonly project: OperatorProject;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const hasPrice = useFeatures()?.billing === "prepaid";
  const [free, setFree] = useState(String(project.freeCallsPerMonth ?? ""));
  const [isUnlimited, setIsUnlimited] = useState(project.freeCallsPerMonth === null);
  const [price, setPrice] = useState(String((project.priceMicrosPerCall ?? 0) / MICROS));
  const change = useAction(
    () =>
      request("PATCH", `operator/projects/${project.projectId}`, {
        freeCallsPerMonth: isUnlimited ? null : Number(free),
        ...(hasPrice ? { priceMicrosPerCall: Math.round(Number(price) * MICROS) } : {}),
      }),
    () => {
      say("The terms are set.");
      void client.invalidateQueries({ queryKey: operatorProjectsQuery.queryKey });
      onClose();
    },
  );
  return (
    <Dialog
      open
      title={
        <>
          Terms of <bdi>{project.name}</bdi>
        </>
      }
      note="In force from now on; nothing is billed backwards."
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
          label="Free calls a month"
          type="number"
          min={0}
          required={!isUnlimited}
          disabled={isUnlimited}
          value={isUnlimited ? "" : free}
          onValue={setFree}
        />
        <Check label="Unlimited" checked={isUnlimited} onChecked={setIsUnlimited} />
        {hasPrice ? (
          <TextField
            label="Price of a call"
            inputMode="decimal"
            pattern="\d+(\.\d{1,6})?"
            title="An amount such as 0.001"
            required
            value={price}
            onValue={setPrice}
          />
        ) : null}
        {change.failure === null ? null : <FailureNote failure={change.failure} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={change.busy}>
            Set the terms
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
