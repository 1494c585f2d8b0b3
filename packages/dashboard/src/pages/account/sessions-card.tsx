import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { FailureNote, Loading } from "../../ui/notice.tsx";
import { Ago } from "../../ui/time.tsx";
import { say } from "../../ui/toast.tsx";
import { browserWords } from "./browser-words.ts";

type Session = {
  readonly id: string;
  readonly token: string;
  readonly current: boolean;
  readonly updatedAt: string;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
};

const KEY = ["sessions"];

/** Where the person is signed in, and how to end that. */
export function SessionsCard() {
  const client = useQueryClient();
  const sessions = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) =>
      request<readonly Session[]>("GET", "auth/list-sessions", undefined, signal),
  });
  const refresh = (): void => {
    say("Signed out there.");
    void client.invalidateQueries({ queryKey: KEY });
  };
  const end = useAction(
    (token: string) => request("POST", "auth/revoke-session", { token }),
    refresh,
  );
  const endOthers = useAction(() => request("POST", "auth/revoke-other-sessions", {}), refresh);
  const failure = sessions.error ?? end.failure ?? endOthers.failure;
  const others = sessions.data?.filter(({ current }) => !current) ?? [];
  return (
    <Card
      title="Sessions"
      note="Everywhere you are signed in."
      actions={
        others.length === 0 ? undefined : (
          <Button small busy={endOthers.busy} onClick={() => endOthers.run()}>
            Sign out all others
          </Button>
        )
      }
    >
      {failure === null ? null : <FailureNote failure={failure} />}
      {sessions.data === undefined ? (
        sessions.error === null ? (
          <Loading lines={2} />
        ) : null
      ) : (
        <ul className="flex flex-col">
          {sessions.data.map((session) => (
            <li
              key={session.id}
              className="flex items-center justify-between gap-3 border-b border-line py-2 first:pt-0 last:border-b-0 last:pb-0"
            >
              <span className="min-w-0">
                <span className="flex flex-wrap items-center gap-2">
                  <span title={session.userAgent ?? undefined}>
                    {browserWords(session.userAgent)}
                  </span>
                  {session.current ? <Badge tone="good">this one</Badge> : null}
                </span>
                <span className="text-xs text-quiet">
                  <code>{session.ipAddress ?? "unknown address"}</code>, last used{" "}
                  <Ago at={session.updatedAt} />
                </span>
              </span>
              {session.current ? null : (
                <Button small kind="quiet" onClick={() => end.run(session.token)}>
                  Sign out
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
