import { useSearch } from "@tanstack/react-router";
import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { BASE_PATH } from "../../base-path.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { FailureNote, Notice } from "../../ui/notice.tsx";
import { githubWords } from "../entry/github-words.ts";

/** Joins a GitHub account to this one, so that it can sign in. */
export function GitHubCard() {
  const { github, error } = useSearch({ from: "/app/account" });
  const link = useAction(
    () =>
      request<{ readonly url: string }>("POST", "auth/link-social", {
        provider: "github",
        callbackURL: `${BASE_PATH}account?github=joined`,
        errorCallbackURL: `${BASE_PATH}account`,
      }),
    ({ url }) => window.location.assign(url),
  );
  return (
    <Card title="GitHub" note="Once joined, “Sign in with GitHub” gets you in here.">
      <div className="flex flex-col gap-3">
        {error !== undefined ? (
          <Notice tone="warn">{githubWords(error)}</Notice>
        ) : github === "joined" ? (
          <Notice tone="good">A GitHub account is joined to this one.</Notice>
        ) : null}
        <div>
          <Button busy={link.busy} onClick={() => link.run()}>
            Join a GitHub account
          </Button>
        </div>
        {link.failure === null ? null : <FailureNote failure={link.failure} />}
      </div>
    </Card>
  );
}
