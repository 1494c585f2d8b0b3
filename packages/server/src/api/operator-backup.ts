import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { z } from "@hono/zod-openapi";
import type { Auth } from "./auth.ts";
import { ApiError } from "./errors.ts";
import { route } from "./routes.ts";
import type { Api, ApiContext, ApiDeps } from "./routes.ts";

/** Makes backups of this Relay's data folder. */
export type BackupPort = {
  /** Where a backup lies while it is sent: a file of this name is nobody else's. */
  readonly file: string;
  /** Writes a whole backup to `file`, which must not be there; rejects leaving none. */
  readonly make: () => Promise<void>;
};

/** A whole backup as one file, for the operator; one at a time. */
export function addOperatorBackup(api: Api, deps: ApiDeps, auth: Auth): void {
  let isBusy = false;
  route(
    api,
    {
      method: "get",
      path: "/v1/operator/backup",
      summary: "Sends a backup of the data folder, secrets included; `relay backup` restores it",
      by: "operator",
      need: "owners",
      media: "application/octet-stream",
      answer: z.string().openapi({ format: "binary" }),
      errors: ["CONFLICT"],
    },
    async (context) => {
      await auth.operator(context);
      refuseOtherSites(context);
      if (isBusy) throw new ApiError("CONFLICT", "A backup is being made already");
      isBusy = true;
      try {
        return await sendBackup(context, deps);
      } finally {
        isBusy = false;
      }
    },
  );
}

async function sendBackup(context: ApiContext, { backup, clock, log }: ApiDeps): Promise<Response> {
  const { response, requestId } = context.var.exchange;
  // What a process that died while it sent one left behind.
  await rm(backup.file, { force: true });
  try {
    await backup.make();
    const { size } = await stat(backup.file);
    const day = new Date(clock.wall()).toISOString().slice(0, 10);
    response.writeHead(200, {
      "Content-Type": "application/octet-stream",
      "Content-Length": size,
      "Content-Disposition": `attachment; filename="relay-${day}.backup"`,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "X-Request-Id": requestId,
    });
    await pipeline(createReadStream(backup.file), response);
  } catch (error) {
    if (!response.headersSent) throw error;
    log.warn({ err: error, requestId }, "a backup was not sent to its end");
    response.destroy();
  } finally {
    await rm(backup.file, { force: true });
  }
  return RESPONSE_ALREADY_SENT;
}

/** Another site's link or image could start one with the operator's cookie. */
function refuseOtherSites(context: ApiContext): void {
  const site = context.req.header("sec-fetch-site");
  if (site === undefined || site === "same-origin" || site === "none") return;
  throw new ApiError("ORIGIN_NOT_ALLOWED", "A backup is started from the dashboard alone");
}
