import { queryOptions, useQuery } from "@tanstack/react-query";
import { ApiFailure, request } from "./client.ts";
import type { Features, Me } from "./shapes.ts";

/** What this Relay offers, the same for everybody; asked once a visit. */
export const featuresQuery = queryOptions({
  queryKey: ["features"],
  queryFn: ({ signal }) => request<Features>("GET", "features", undefined, signal),
  staleTime: Infinity,
});

/** Who is signed in; null for nobody. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal }): Promise<Me | null> => {
    try {
      return await request<Me>("GET", "me", undefined, signal);
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

export function useFeatures(): Features | undefined {
  return useQuery(featuresQuery).data;
}

/** The signed-in person; only pages behind the sign-in ask. */
export function useMe(): Me | null {
  return useQuery(meQuery).data ?? null;
}

export type SignedIn = { readonly twoFactorRedirect?: boolean };

/** Signs in; the answer may ask for a second factor first. */
export function signIn(email: string, password: string): Promise<SignedIn> {
  return request<SignedIn>("POST", "auth/sign-in/email", { email, password });
}

/**
 * Makes an account, by an invitation where there is one, and signs in. `entered` is false where Relay
 * wants the address confirmed first; it says no more, so that nobody learns who has an account.
 */
export async function signUp(
  person: { readonly name: string; readonly email: string; readonly password: string },
  invitation?: string,
): Promise<{ readonly entered: boolean }> {
  await request("POST", "auth/sign-up/email", {
    ...person,
    ...(invitation === undefined ? {} : { invitation }),
  });
  try {
    await signIn(person.email, person.password);
    return { entered: true };
  } catch (error) {
    if (error instanceof ApiFailure && [401, 403].includes(error.status)) return { entered: false };
    throw error;
  }
}

/** Ends the session here and forgets all that was shown. */
export async function signOut(): Promise<void> {
  await request("POST", "auth/sign-out", {});
}

/** Sends the browser to GitHub, which sends it back to `next`; `newcomer` may get an account. */
export async function signInWithGitHub(next: string, newcomer = false): Promise<void> {
  const { url } = await request<{ readonly url: string }>("POST", "auth/sign-in/social", {
    provider: "github",
    callbackURL: next,
    ...(newcomer ? { requestSignUp: true } : {}),
  });
  window.location.assign(url);
}
