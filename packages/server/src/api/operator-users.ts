import { z } from "@hono/zod-openapi";
import { isUuid } from "@relay/protocol";
import type { UserId } from "@relay/protocol";
import type { Accounts, UserLine } from "../accounts/port.ts";
import type { SetUp } from "../accounts/set-up.ts";
import { Email } from "./accounts-shapes.ts";
import { noteChange } from "./audit.ts";
import type { Auth } from "./auth.ts";
import { ApiError, notFound } from "./errors.ts";
import { json, readInput, readQuery, route } from "./routes.ts";
import type { Api } from "./routes.ts";
import { PageQuery, Time, isoTime, pageShape } from "./shapes.ts";

const USERS = "/v1/operator/users";

const UserShape = z
  .object({
    userId: z.string(),
    name: z.string(),
    email: z.string(),
    disabled: z.boolean(),
    createdAt: Time,
  })
  .openapi("User");
const UserPatch = z
  .object({ disabled: z.boolean({ error: "must be true or false" }) })
  .openapi("UserPatch");
const ResetInput = z.object({ email: Email }).openapi("PasswordReset");
const LinkShape = z.object({ url: z.string() }).openapi("OneTimeLink");

export type UserDeps = { readonly accounts: Accounts; readonly setUp: SetUp };

/** The operator's view of the people who use the dashboard, and their ways back in. */
export function addOperatorUsers(api: Api, deps: UserDeps, auth: Auth): void {
  addUserList(api, deps, auth);
  addLinks(api, deps, auth);
}

function addUserList(api: Api, { accounts }: UserDeps, auth: Auth): void {
  route(
    api,
    {
      method: "get",
      path: USERS,
      summary: "Lists the dashboard's users, the newest first",
      by: "operator",
      query: PageQuery,
      answer: pageShape(UserShape),
    },
    async (context) => {
      await auth.operator(context);
      const { limit, cursor } = readQuery(context, PageQuery);
      if (cursor !== undefined && !isUuid(cursor)) {
        throw new ApiError("VALIDATION_ERROR", "cursor: is not one that this list returned");
      }
      // Checked right above.
      const found = await accounts.listUsers(limit + 1, (cursor ?? null) as UserId | null);
      const items = found.slice(0, limit).map(userView);
      const nextCursor = found.length > limit ? (items.at(-1)?.userId ?? null) : null;
      return json(context, 200, { items, nextCursor });
    },
  );
  route(
    api,
    {
      method: "patch",
      path: `${USERS}/{userId}`,
      summary: "Disables a user, which ends every session of theirs, or enables one again",
      by: "operator",
      need: "members",
      body: UserPatch,
      answer: z.object({ userId: z.string(), disabled: z.boolean() }),
      errors: ["CONFLICT"],
    },
    async (context) => {
      await auth.operator(context);
      const { disabled } = await readInput(context, UserPatch);
      const userId = context.req.param("userId") ?? "";
      if (disabled && context.get("visitor")?.userId === userId) {
        throw new ApiError("CONFLICT", "You can't disable yourself");
      }
      // An id of any other shape is nobody's.
      const changed = isUuid(userId) && (await accounts.setDisabled(userId as UserId, disabled));
      if (!changed) throw notFound("user");
      return json(context, 200, { userId, disabled });
    },
  );
}

function addLinks(api: Api, { accounts, setUp }: UserDeps, auth: Auth): void {
  route(
    api,
    {
      method: "post",
      path: `${USERS}/password-reset`,
      summary: "Makes a link with which a user sets a new password, once and within an hour",
      by: "operator",
      need: "members",
      body: ResetInput,
      status: 201,
      answer: LinkShape,
      errors: ["NOT_FOUND"],
    },
    async (context) => {
      await auth.operator(context);
      const { email } = await readInput(context, ResetInput);
      const url = await accounts.resetPasswordLink(email);
      if (url === null) throw notFound("user");
      noteChange(context, { after: { email } });
      return json(context, 201, { url });
    },
  );
  route(
    api,
    {
      method: "post",
      path: "/v1/operator/setup-link",
      summary: "Makes a link that sets up the first account, in place of any before it",
      by: "operator",
      status: 201,
      answer: LinkShape,
      errors: ["NOT_FOUND"],
    },
    async (context) => {
      await auth.operator(context);
      const url = await setUp.mintLink();
      if (url === null) {
        throw new ApiError(
          "NOT_FOUND",
          "The first account is there already; invite others from it",
        );
      }
      return json(context, 201, { url });
    },
  );
}

function userView(user: UserLine): z.output<typeof UserShape> {
  return { ...user, createdAt: isoTime(user.createdAt) };
}
