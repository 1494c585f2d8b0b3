import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import type { Page } from "../../api/shapes.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CopyLine } from "../../ui/copy.tsx";
import { TextField } from "../../ui/field.tsx";
import { plural } from "../../ui/format.ts";
import { FailureNote, Loading, Notice } from "../../ui/notice.tsx";
import type { Tone } from "../../ui/notice.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { say } from "../../ui/toast.tsx";

type Webhook = { readonly url: string | null; readonly secret?: string };
type Delivery = {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly state: "waiting" | "delivered" | "failed" | "unsent";
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
};
type Change = { readonly url?: string | null; readonly newSecret?: boolean };

const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ["project", id, "webhook"],
    queryFn: ({ signal }) => request<Webhook>("GET", `projects/${id}/webhook`, undefined, signal),
  });
const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: ["project", id, "deliveries"],
    queryFn: ({ signal }) =>
      request<Page<Delivery>>(
        "GET",
        `projects/${id}/webhook/deliveries?limit=20`,
        undefined,
        signal,
      ),
  });

/** Where Relay tells a server of yours what happened: allowance, cap and balance. */
export function WebhookCard({ projectId }: { readonly projectId: string }) {
  const webhook = useQuery(webhookQuery(projectId));
  return (
    <Card
      title="Webhook"
      note="Relay POSTs signed events: allowance and cap thresholds, a low balance. Signatures follow Standard Webhooks."
    >
      {webhook.error !== null ? (
        <FailureNote failure={webhook.error} onRetry={() => void webhook.refetch()} />
      ) : webhook.data === undefined ? (
        <Loading lines={2} />
      ) : (
        <WebhookForm projectId={projectId} url={webhook.data.url} />
      )}
    </Card>
  );
}

function WebhookForm({
  projectId,
  url,
}: {
  readonly projectId: string;
  readonly url: string | null;
}) {
  const client = useQueryClient();
  const [text, setText] = useState(url ?? "");
  const [secret, setSecret] = useState<string | null>(null);
  const change = useAction(
    (wanted: Change) => request<Webhook>("PATCH", `projects/${projectId}/webhook`, wanted),
    (webhook) => {
      say(webhook.url === null ? "No events are sent any more." : "The webhook is kept.");
      setSecret(webhook.secret ?? null);
      setText(webhook.url ?? "");
      client.setQueryData(webhookQuery(projectId).queryKey, { url: webhook.url });
    },
  );
  const test = useAction(
    () => request("POST", `projects/${projectId}/webhook/test`, {}),
    () => {
      say("A test event is on its way.");
      void client.invalidateQueries({ queryKey: deliveriesQuery(projectId).queryKey });
    },
  );
  const failure = change.failure ?? test.failure;
  return (
    <div className="flex flex-col gap-4">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          change.run({ url: text.trim() === "" ? null : text.trim() });
        }}
      >
        <TextField
          label="Address"
          placeholder="https://example.com/relay-events"
          dir="ltr"
          type="url"
          value={text}
          onValue={setText}
        />
        {failure === null ? null : <FailureNote failure={failure} />}
        <div className="flex flex-wrap gap-2">
          <Button
            type="submit"
            kind="primary"
            busy={change.busy}
            disabled={text.trim() === (url ?? "")}
          >
            {text.trim() === "" && url !== null ? "Remove the webhook" : "Keep the address"}
          </Button>
          {url === null ? null : (
            <>
              <Button busy={test.busy} onClick={() => test.run()}>
                Send a test
              </Button>
              <Button kind="quiet" onClick={() => change.run({ newSecret: true })}>
                New signing secret
              </Button>
            </>
          )}
        </div>
      </form>
      {secret === null ? null : (
        <div className="flex flex-col gap-2">
          <CopyLine title="Signing secret" text={secret} />
          <Notice tone="warn">It is shown this once: your server checks signatures with it.</Notice>
          <div>
            <Button small onClick={() => setSecret(null)}>
              I have it
            </Button>
          </div>
        </div>
      )}
      {url === null ? null : <Deliveries projectId={projectId} />}
    </div>
  );
}

const STATE_TONES: Readonly<Record<Delivery["state"], Tone | "plain">> = {
  waiting: "info",
  delivered: "good",
  failed: "danger",
  unsent: "plain",
};

function Deliveries({ projectId }: { readonly projectId: string }) {
  const query = useQuery(deliveriesQuery(projectId));
  if (query.data === undefined || query.data.items.length === 0) return null;
  return (
    <div className="rounded-md border border-line">
      <div className="flex items-center justify-between border-b border-line py-1 pr-1 pl-4">
        <h3 className="text-sm font-medium">Deliveries</h3>
        <Button small kind="quiet" onClick={() => void query.refetch()}>
          Look again
        </Button>
      </div>
      <Table
        caption="Deliveries"
        columns={[{ name: "Event" }, { name: "State" }, { name: "Tries" }, { name: "When" }]}
      >
        {query.data.items.map((event) => (
          <Row key={event.id}>
            <Cell>
              <code>{event.type}</code>
            </Cell>
            <Cell>
              <Badge tone={STATE_TONES[event.state]}>{event.state}</Badge>{" "}
              <span className="text-xs break-words text-quiet">
                {event.lastError ?? (event.lastStatus === null ? "" : `HTTP ${event.lastStatus}`)}
              </span>
            </Cell>
            <Cell className="whitespace-nowrap">
              {plural(event.attempts, "try", "tries")}
              {event.nextAttemptAt === null ? null : (
                <>
                  , next <Ago at={event.nextAttemptAt} />
                </>
              )}
            </Cell>
            <Cell>
              <Ago at={event.createdAt} />
            </Cell>
          </Row>
        ))}
      </Table>
    </div>
  );
}
