import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { refusedOriginsQuery } from "../../api/project-queries.ts";
import type { Project } from "../../api/shapes.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { TextField } from "../../ui/field.tsx";
import { plural } from "../../ui/format.ts";
import { FailureNote } from "../../ui/notice.tsx";
import { Ago } from "../../ui/time.tsx";
import { useProjectPatch } from "./use-project-patch.ts";

/** Which web pages may use the publishable key; those that were just refused are offered. */
export function OriginsCard({ project }: { readonly project: Project }) {
  const { projectId, allowedOrigins } = project;
  const [text, setText] = useState("");
  const refused = useQuery(refusedOriginsQuery(projectId)).data?.items ?? [];
  const patch = useProjectPatch(projectId, "The origins are kept.", () => setText(""));
  const add = (origin: string): void =>
    patch.run({ allowedOrigins: [...new Set([...allowedOrigins, origin])] });
  const offered = refused.filter(({ origin }) => !allowedOrigins.includes(origin));
  return (
    <Card
      title="Allowed origins"
      note={
        allowedOrigins.length === 0
          ? "None named, so that every web page may create links with the publishable key. Apps that are not web pages always may."
          : "Only these web pages may create links and connect. Apps that are not web pages always may."
      }
    >
      <div className="flex flex-col gap-4">
        {allowedOrigins.length === 0 ? null : (
          <ul className="flex flex-col rounded-md border border-line">
            {allowedOrigins.map((origin) => (
              <li
                key={origin}
                className="flex items-center justify-between gap-2 border-b border-line py-1 pr-1 pl-3 last:border-b-0"
              >
                <code className="min-w-0 break-all">{origin}</code>
                <Button
                  small
                  kind="quiet"
                  aria-label={`Remove ${origin}`}
                  onClick={() =>
                    patch.run({ allowedOrigins: allowedOrigins.filter((kept) => kept !== origin) })
                  }
                >
                  Remove
                </Button>
              </li>
            ))}
          </ul>
        )}
        <form
          className="flex flex-wrap items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            add(text.trim());
          }}
        >
          <div className="min-w-0 flex-1 basis-60">
            <TextField
              label="Add an origin"
              placeholder="https://app.example.com"
              dir="ltr"
              inputMode="url"
              maxLength={256}
              required
              value={text}
              onValue={setText}
            />
          </div>
          <Button type="submit" busy={patch.busy}>
            Add
          </Button>
        </form>
        {patch.failure === null ? null : <FailureNote failure={patch.failure} />}
        {offered.length === 0 ? null : (
          <div>
            <h3 className="mb-2 text-sm font-medium">Refused in the last hour</h3>
            <ul className="flex flex-col gap-2">
              {offered.map(({ origin, at, count }) => (
                <li key={origin} className="flex flex-wrap items-center justify-between gap-2">
                  <span className="min-w-0 text-sm">
                    <code className="break-all">{origin}</code>{" "}
                    <span className="text-quiet">
                      {plural(count, "time")}, <Ago at={at} />
                    </span>
                  </span>
                  <Button small onClick={() => add(origin)}>
                    Allow it
                  </Button>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Card>
  );
}
