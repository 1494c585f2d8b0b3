import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { useFeatures } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { Check, TextField } from "../../ui/field.tsx";
import { count, money } from "../../ui/format.ts";
import { FailureNote, Loading } from "../../ui/notice.tsx";
import { say } from "../../ui/toast.tsx";
import { operatorProjectQuery, operatorProjectsQuery } from "./operator-queries.ts";
import type { ListedProject, OperatorProject, Terms } from "./operator-queries.ts";

const MICROS = 1_000_000;

/** Sets a project's free calls and price, from now on, beginning with those in force. */
export function TermsDialog({
  project,
  onClose,
}: {
  readonly project: ListedProject;
  readonly onClose: () => void;
}) {
  const now = useQuery(operatorProjectQuery(project.projectId));
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
      {now.error !== null ? (
        <FailureNote failure={now.error} onRetry={() => void now.refetch()} />
      ) : now.data === undefined ? (
        <Loading lines={3} />
      ) : (
        <TermsForm project={now.data} onClose={onClose} />
      )}
    </Dialog>
  );
}

function TermsForm({
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
  const [price, setPrice] = useState(priceText(project.priceMicrosPerCall));
  const wanted = readTerms(isUnlimited ? null : free, price);
  const changes = wanted === null ? null : changesOf(project, wanted);
  const words = changes === null ? [] : wordsOf(project, changes);
  const change = useAction(
    (chosen: Partial<Terms>) => request("PATCH", `operator/projects/${project.projectId}`, chosen),
    () => {
      say(`The terms are set. ${words.join(" ")}`);
      void client.invalidateQueries({ queryKey: operatorProjectsQuery.queryKey });
      onClose();
    },
  );
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (changes !== null) change.run(changes);
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
          pattern={PRICE.source}
          title="An amount such as 0.001"
          required
          value={price}
          onValue={setPrice}
        />
      ) : null}
      <p aria-live="polite" className="text-sm text-quiet">
        {changes === null || words.length > 0 ? words.join(" ") : "These terms are in force."}
      </p>
      {change.failure === null ? null : <FailureNote failure={change.failure} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          kind="primary"
          busy={change.busy}
          disabled={changes !== null && words.length === 0}
        >
          Set the terms
        </Button>
      </DialogActions>
    </form>
  );
}

const PRICE = /\d+(?:\.\d{1,6})?/;
const WHOLE_PRICE = new RegExp(`^${PRICE.source}$`);

/** What is typed; null while it is no number, which the fields themselves complain about. */
function readTerms(free: string | null, price: string): Terms | null {
  if (free !== null && !/^\d+$/.test(free)) return null;
  if (!WHOLE_PRICE.test(price)) return null;
  return {
    freeCallsPerMonth: free === null ? null : Number(free),
    priceMicrosPerCall: Math.round(Number(price) * MICROS),
  };
}

/** What is not as it was: the rest is left alone, also where somebody else sets it meanwhile. */
function changesOf(before: Terms, after: Terms): Partial<Terms> {
  const { freeCallsPerMonth, priceMicrosPerCall } = after;
  return {
    ...(freeCallsPerMonth === before.freeCallsPerMonth ? {} : { freeCallsPerMonth }),
    ...(priceMicrosPerCall === before.priceMicrosPerCall ? {} : { priceMicrosPerCall }),
  };
}

function wordsOf(before: Terms, changes: Partial<Terms>): readonly string[] {
  const { freeCallsPerMonth, priceMicrosPerCall } = changes;
  return [
    ...(freeCallsPerMonth === undefined
      ? []
      : [
          `Free calls a month: ${callsText(before.freeCallsPerMonth)} → ${callsText(freeCallsPerMonth)}.`,
        ]),
    ...(priceMicrosPerCall === undefined
      ? []
      : [`Price of a call: ${money(before.priceMicrosPerCall)} → ${money(priceMicrosPerCall)}.`]),
  ];
}

function callsText(calls: number | null): string {
  return calls === null ? "unlimited" : count(calls);
}

/** As it is typed, without the ending zeros of an amount that is only read. */
function priceText(micros: number): string {
  return (micros / MICROS).toFixed(6).replace(/\.?0+$/, "");
}
