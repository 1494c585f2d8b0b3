import { useFeatures, useMe } from "../../api/session.ts";
import { PageHead } from "../../ui/card.tsx";
import { Loading } from "../../ui/notice.tsx";
import { GitHubCard } from "./github-card.tsx";
import { NameCard } from "./name-card.tsx";
import { PasskeysCard } from "./passkeys-card.tsx";
import { PasswordCard } from "./password-card.tsx";
import { SessionsCard } from "./sessions-card.tsx";
import { TotpCard } from "./totp-card.tsx";

/** How the person gets in, and where they are in. */
export function AccountPage() {
  const me = useMe();
  const features = useFeatures();
  if (me === null || features === undefined) return <Loading />;
  return (
    <>
      <PageHead title="Your sign-in" note={me.user.email} />
      <div className="flex max-w-3xl flex-col gap-6">
        <NameCard name={me.user.name} />
        <PasswordCard />
        {features.passkeys ? <PasskeysCard /> : null}
        <TotpCard isOn={me.user.twoFactor} />
        {features.github ? <GitHubCard /> : null}
        <SessionsCard />
      </div>
    </>
  );
}
