import { useQueryClient } from "@tanstack/react-query";
import { Link as RouteLink } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import type { Link } from "../../api/shapes.ts";
import { Button, buttonClasses } from "../../ui/button.tsx";
import { Card, Facts } from "../../ui/card.tsx";
import { TextField } from "../../ui/field.tsx";
import { FailureNote } from "../../ui/notice.tsx";
import { Ago } from "../../ui/time.tsx";
import { say } from "../../ui/toast.tsx";
import { LinkActions } from "./link-actions.tsx";

/** What a link is, and what can be done with it. */
export function LinkOverview({
  projectId,
  link,
}: {
  readonly projectId: string;
  readonly link: Link;
}) {
  return (
    <div className="flex flex-col gap-5">
      <Facts
        rows={[
          {
            name: "App",
            value:
              link.app === null ? (
                "It has not connected yet"
              ) : (
                <bdi>
                  {link.app.name} {link.app.version}
                </bdi>
              ),
          },
          {
            name: "Last host",
            value:
              link.client === null ? (
                "None has called in yet"
              ) : (
                <bdi>
                  {link.client.name} {link.client.version}
                </bdi>
              ),
          },
          { name: "App seen", value: <Ago at={link.lastSeenAt} /> },
          { name: "Last call", value: <Ago at={link.lastCallAt} /> },
          { name: "Made", value: <Ago at={link.createdAt} /> },
        ]}
      />
      {link.trial === true && !link.revoked ? (
        <RouteLink
          to="/projects/$projectId/try"
          params={{ projectId }}
          search={{ link: link.linkId }}
          className={buttonClasses("secondary")}
        >
          Try its tools
        </RouteLink>
      ) : null}
      {link.revoked ? (
        <p className="text-sm text-quiet">
          This link was revoked. It stays in the list for 30 days; nothing can be done with it.
        </p>
      ) : (
        <>
          <LabelForm projectId={projectId} link={link} />
          <Card title="Actions" flush>
            <LinkActions projectId={projectId} link={link} />
          </Card>
        </>
      )}
    </div>
  );
}

function LabelForm({ projectId, link }: { readonly projectId: string; readonly link: Link }) {
  const client = useQueryClient();
  const [label, setLabel] = useState(link.label ?? "");
  const wanted = label.trim();
  const change = useAction(
    () =>
      request("PATCH", `projects/${projectId}/links/${link.linkId}`, {
        label: wanted === "" ? null : wanted,
      }),
    () => {
      say("The label is changed.");
      void client.invalidateQueries({ queryKey: ["project", projectId] });
    },
  );
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        change.run();
      }}
    >
      <div className="flex items-end gap-2">
        <div className="flex-1">
          <TextField
            label="Label"
            hint="For you alone; the person’s host does not see it."
            maxLength={64}
            value={label}
            onValue={setLabel}
          />
        </div>
      </div>
      {change.failure === null ? null : <FailureNote failure={change.failure} />}
      {wanted === (link.label ?? "") ? null : (
        <div>
          <Button small type="submit" kind="primary" busy={change.busy}>
            Change the label
          </Button>
        </div>
      )}
    </form>
  );
}
