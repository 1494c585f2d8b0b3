import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiFailure } from "./api/client.ts";
import { meQuery } from "./api/session.ts";
import { createAppRouter } from "./router.tsx";
import { applyTheme, chosenTheme } from "./shell/theme.ts";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal stays one; only what did not arrive is tried again, once.
      retry: (failures, error) =>
        failures < 1 && error instanceof ApiFailure && (error.status === 0 || error.status >= 500),
    },
  },
});
// A session that ended elsewhere shows at the next refusal: the sign-in takes over.
client.getQueryCache().subscribe((event) => {
  if (event.type !== "updated" || event.action.type !== "error") return;
  const { error } = event.action;
  if (error instanceof ApiFailure && error.status === 401)
    client.setQueryData(meQuery.queryKey, null);
});

applyTheme(chosenTheme());
const place = document.getElementById("app");
if (place === null) throw new Error("index.html has no #app");
createRoot(place).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={client}>
        <RouterProvider router={createAppRouter()} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
