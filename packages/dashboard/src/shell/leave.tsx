import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { Loading } from "../ui/notice.tsx";

/** Leads away once, to the sign-in with where to come back to. */
export function Leave({ to }: { readonly to: "/setup" | "/sign-in" }) {
  const router = useRouter();
  useEffect(() => {
    const { pathname, search } = window.location;
    // The address as it is now: it changes while the next page is on its way.
    const next = to === "/sign-in" ? { next: pathname + search } : {};
    void router.navigate({ to, search: next, replace: true });
  }, [router, to]);
  return <Loading />;
}
