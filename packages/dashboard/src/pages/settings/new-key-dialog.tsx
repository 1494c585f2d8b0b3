import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { keysQuery } from "../../api/project-queries.ts";
import type { Key } from "../../api/shapes.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { FailureNote } from "../../ui/notice.tsx";

const OVERLAPS = [
  { value: "0", label: "Stop it at once" },
  { value: "24", label: "Let it run for 24 hours" },
  { value: "168", label: "Let it run for 7 days" },
  { value: "720", label: "Let it run for 30 days" },
];

/** Makes a key, by itself or in place of another that runs on for a while. */
export function NewKeyDialog({
  projectId,
  keys,
  onMade,
  onClose,
}: {
  readonly projectId: string;
  readonly keys: readonly Key[];
  readonly onMade: (key: string) => void;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const [kind, setKind] = useState<"pk" | "sk">("pk");
  const [replaces, setReplaces] = useState("");
  const [overlapHours, setOverlapHours] = useState("24");
  const others = keys.filter(
    (key) => key.kind === kind && key.revokedAt === null && key.expiresAt === null,
  );
  const make = useAction(
    () =>
      request<{ readonly key: string }>("POST", `projects/${projectId}/keys`, {
        kind,
        ...(replaces === "" ? {} : { replaces, overlapHours: Number(overlapHours) }),
      }),
    ({ key }) => {
      void client.invalidateQueries({ queryKey: keysQuery(projectId).queryKey });
      onMade(key);
    },
  );
  return (
    <Dialog open title="New key" onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          make.run();
        }}
      >
        <Field label="Kind">
          {(ids) => (
            <Select
              {...ids}
              value={kind}
              onValue={(value) => {
                setKind(value === "sk" ? "sk" : "pk");
                setReplaces("");
              }}
              options={[
                { value: "pk", label: "Publishable: creates links, ships inside the app" },
                { value: "sk", label: "Secret: the REST API, for your server" },
              ]}
            />
          )}
        </Field>
        {others.length === 0 ? null : (
          <Field label="In place of">
            {(ids) => (
              <Select
                {...ids}
                value={replaces}
                onValue={setReplaces}
                options={[
                  { value: "", label: "None: one more key" },
                  ...others.map((key) => ({
                    value: key.keyId,
                    label: `${key.prefix}…${key.last4}`,
                  })),
                ]}
              />
            )}
          </Field>
        )}
        {replaces === "" ? null : (
          <Field label="The old key">
            {(ids) => (
              <Select {...ids} value={overlapHours} onValue={setOverlapHours} options={OVERLAPS} />
            )}
          </Field>
        )}
        {make.failure === null ? null : <FailureNote failure={make.failure} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={make.busy}>
            Make the key
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
