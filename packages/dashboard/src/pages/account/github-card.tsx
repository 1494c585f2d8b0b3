import { useAction } from "../../api/action.tsx";
import { request } from "../../api/client.ts";
import { BASE_PATH } from "../../base-path.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { FailureNote } from "../../ui/notice.tsx";

/** Joins a GitHub account to this one, so that it can sign in. */
export function GitHubCard() {
  const link = useAction(
    () =>
      request<{ readonly url: string }>("POST", "auth/link-social", {
        provider: "github",
        callbackURL: `${BASE_PATH}account`,
      }),
    ({ url }) => window.location.assign(url),
  );
  return (
    <Card title="GitHub" note="Once joined, “Sign in with GitHub” gets you in here.">
      <div className="flex flex-col gap-3">
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
