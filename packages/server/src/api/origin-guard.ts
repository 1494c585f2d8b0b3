import { ApiError } from "./errors.ts";
import type { Api } from "./routes.ts";

const READS = new Set(["GET", "HEAD"]);

/**
 * Lets a request under `/api` change something only from this Relay's own pages: browsers send
 * `Origin` with every such request, so that one without it is not a browser's own and is refused
 * too. No CORS header is ever sent there.
 */
export function addOriginGuard(api: Api, publicUrl: string): void {
  const own = new URL(publicUrl).origin;
  api.use("/api/*", async (context, next) => {
    if (!READS.has(context.req.method) && context.req.header("origin") !== own) {
      throw new ApiError(
        "ORIGIN_NOT_ALLOWED",
        `Requests that change something come from ${own} alone`,
      );
    }
    await next();
  });
}
