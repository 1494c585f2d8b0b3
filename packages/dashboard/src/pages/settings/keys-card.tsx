import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { keysQuery } from "../../api/project-queries.ts";
import type { Key } from "../../api/shapes.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { CopyButton, CopyLine } from "../../ui/copy.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { FailureNote, Loading, Notice } from "../../ui/notice.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Ago, useNow } from "../../ui/time.tsx";
import { say } from "../../ui/toast.tsx";
import { NewKeyDialog } from "./new-key-dialog.tsx";

/** The project's keys; several work at once, so that one can be replaced without a gap. */
export function KeysCard({ projectId }: { readonly projectId: string }) {
  const keys = useQuery(keysQuery(projectId));
  const [isMaking, setIsMaking] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<Key | null>(null);
  return (
    <Card
      flush
      title="Keys"
      note="Publishable keys (pk_) ship inside the app; secret keys (sk_) open the REST API and stay on your server."
      actions={
        <Button small onClick={() => setIsMaking(true)}>
          New key
        </Button>
      }
    >
      {keys.error !== null ? (
        <FailureNote failure={keys.error} onRetry={() => void keys.refetch()} />
      ) : keys.data === undefined ? (
        <Loading />
      ) : (
        <KeyTable keys={keys.data.items} onRevoke={setRevoking} />
      )}
      {isMaking ? (
        <NewKeyDialog
          projectId={projectId}
          keys={keys.data?.items ?? []}
          onMade={(key) => {
            setIsMaking(false);
            setMade(key);
          }}
          onClose={() => setIsMaking(false)}
        />
      ) : null}
      {made === null ? null : <MadeKey text={made} onClose={() => setMade(null)} />}
      {revoking === null ? null : (
        <RevokeKey projectId={projectId} apiKey={revoking} onClose={() => setRevoking(null)} />
      )}
    </Card>
  );
}

export function shownKey({ prefix, last4 }: Key): string {
  return `${prefix}…${last4}`;
}

function KeyTable({
  keys,
  onRevoke,
}: {
  readonly keys: readonly Key[];
  readonly onRevoke: (key: Key) => void;
}) {
  const now = useNow();
  return (
    <Table
      caption="Keys"
      columns={[
        { name: "Key" },
        { name: "Used last" },
        { name: "Made" },
        { name: "State" },
        { name: "Actions", silent: true, end: true },
      ]}
    >
      {keys.map((key) => {
        const isOver =
          key.revokedAt !== null || (key.expiresAt !== null && Date.parse(key.expiresAt) <= now);
        return (
          <Row key={key.keyId}>
            <Cell>
              <span className="flex items-center gap-2">
                <code className="whitespace-nowrap">{shownKey(key)}</code>
                {key.key === null || isOver ? null : <CopyButton text={key.key} />}
              </span>
            </Cell>
            <Cell>
              <Ago at={key.lastUsedAt} />
            </Cell>
            <Cell>
              <Ago at={key.createdAt} />
            </Cell>
            <Cell>
              <KeyState apiKey={key} isOver={isOver} />
            </Cell>
            <Cell end>
              {isOver ? null : (
                <Button small kind="quiet" onClick={() => onRevoke(key)}>
                  Revoke…
                </Button>
              )}
            </Cell>
          </Row>
        );
      })}
    </Table>
  );
}

function KeyState({ apiKey, isOver }: { readonly apiKey: Key; readonly isOver: boolean }) {
  if (apiKey.revokedAt !== null) return <Badge>revoked</Badge>;
  if (isOver) return <Badge>expired</Badge>;
  if (apiKey.expiresAt === null) return <Badge tone="good">works</Badge>;
  return (
    <span className="inline-flex items-center gap-1">
      <Badge tone="warn">ends</Badge>
      <Ago at={apiKey.expiresAt} />
    </span>
  );
}

function MadeKey({ text, onClose }: { readonly text: string; readonly onClose: () => void }) {
  const isSecret = text.startsWith("sk_");
  return (
    <Dialog open title="The key is made" onClose={onClose}>
      <CopyLine title={isSecret ? "Secret key" : "Publishable key"} text={text} />
      {isSecret ? (
        <Notice tone="warn">It is shown this once. Relay keeps only its hash.</Notice>
      ) : null}
      <DialogActions>
        <Button kind="primary" onClick={onClose}>
          I have it
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function RevokeKey({
  projectId,
  apiKey,
  onClose,
}: {
  readonly projectId: string;
  readonly apiKey: Key;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const revoke = useAction(
    () => request("DELETE", `projects/${projectId}/keys/${apiKey.keyId}`),
    () => {
      say("The key is revoked.");
      void client.invalidateQueries({ queryKey: keysQuery(projectId).queryKey });
      onClose();
    },
  );
  return (
    <Confirm
      title="Revoke this key?"
      action="Revoke the key"
      typed={shownKey(apiKey).slice(-4)}
      busy={revoke.busy}
      failure={revoke.failure}
      onConfirm={() => revoke.run()}
      onClose={onClose}
    >
      <p>
        <code>{shownKey(apiKey)}</code> stops at once, for good.{" "}
        {apiKey.kind === "pk"
          ? "Apps that have it can make no more links; links they have made go on working."
          : "Whatever uses it gets 401 from the REST API."}
      </p>
      <p>
        To replace a key without a gap, make a new one that lets the old one run on for a while.
      </p>
    </Confirm>
  );
}
