import { LIMITS } from "@relay/protocol";
import { useState } from "react";
import type { Project } from "../../api/shapes.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { TextField } from "../../ui/field.tsx";
import { FailureNote } from "../../ui/notice.tsx";
import { useProjectPatch } from "./use-project-patch.ts";

/** Name and calls a minute. */
export function GeneralCard({ project }: { readonly project: Project }) {
  const [name, setName] = useState(project.name);
  const [calls, setCalls] = useState(String(project.callsPerMinute));
  const patch = useProjectPatch(project.projectId, "The settings are kept.");
  const isSame = name.trim() === project.name && Number(calls) === project.callsPerMinute;
  return (
    <Card title="General">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          patch.run({ name: name.trim(), callsPerMinute: Number(calls) });
        }}
      >
        <TextField
          label="Name"
          hint="AI hosts get it as serverInfo.name and show it to people."
          required
          maxLength={64}
          value={name}
          onValue={setName}
        />
        <TextField
          label="Calls a minute, for each link"
          hint={`1 to ${LIMITS.callsPerMinuteMax.value}. Past it a call is refused at once, is not counted, and the host is told when to try again.`}
          type="number"
          min={1}
          max={LIMITS.callsPerMinuteMax.value}
          required
          value={calls}
          onValue={setCalls}
        />
        {patch.failure === null ? null : <FailureNote failure={patch.failure} />}
        <div>
          <Button type="submit" kind="primary" busy={patch.busy} disabled={isSame}>
            Keep these
          </Button>
        </div>
      </form>
    </Card>
  );
}
