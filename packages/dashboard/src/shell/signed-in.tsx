import { useQuery } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { Suspense, lazy, useCallback, useState } from "react";
import { AskAgainProvider } from "../api/action.tsx";
import { featuresQuery, meQuery } from "../api/session.ts";
import { FailureNote, Loading } from "../ui/notice.tsx";
import { AppFrame } from "./app-frame.tsx";
import { Leave } from "./leave.tsx";

const AskAgainDialog = lazy(() => import("./ask-again-dialog.tsx"));

/** Lets only a signed-in person further; others are led to the sign-in and back. */
export function SignedIn() {
  const me = useQuery(meQuery);
  const features = useQuery(featuresQuery);
  const failure = me.error ?? features.error;
  if (failure !== null) {
    return (
      <main className="mx-auto max-w-lg p-6">
        <FailureNote
          failure={failure}
          onRetry={() => {
            void me.refetch();
            void features.refetch();
          }}
        />
      </main>
    );
  }
  if (me.data === undefined || features.data === undefined) return <Loading />;
  if (features.data.setUpNeeded) return <Leave to="/setup" />;
  if (me.data === null) return <Leave to="/sign-in" />;
  return <WithPassword />;
}

/** Offers every page below the question for the password. */
function WithPassword() {
  const [answer, setAnswer] = useState<((given: boolean) => void) | null>(null);
  const ask = useCallback(
    () =>
      new Promise<boolean>((resolve) => {
        setAnswer(() => resolve);
      }),
    [],
  );
  const close = (given: boolean): void => {
    answer?.(given);
    setAnswer(null);
  };
  return (
    <AskAgainProvider ask={ask}>
      <AppFrame>
        <Outlet />
      </AppFrame>
      {answer === null ? null : (
        <Suspense>
          <AskAgainDialog onClose={close} />
        </Suspense>
      )}
    </AskAgainProvider>
  );
}
