/** The router's addresses before the sign-in; `signed-out.test.ts` goes to each. */
export const ENTRY_ROUTES = [
  "/setup",
  "/sign-in",
  "/sign-up",
  "/invitation",
  "/forgot-password",
  "/reset-password",
] as const;
