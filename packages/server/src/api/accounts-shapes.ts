import { z } from "@hono/zod-openapi";
import { ROLES } from "../store/account-store.ts";
import { textOf } from "./shapes.ts";

/** A name as people are shown one: nothing that breaks a line. */
export const PersonName = textOf(64).refine(
  (text) => !/\p{Cc}/u.test(text) && text.trim() !== "",
  "must be 1 to 64 characters of one line",
);

export const Email = z
  .email({ error: "must be an e-mail address such as ann@example.com" })
  .max(254, "must be at most 254 characters");

/** A password to be set: as long as one that is not guessed, as short as one that is hashed. */
export const NewPassword = z
  .string({ error: "must be a string" })
  .min(10, "must be at least 10 characters")
  .max(128, "must be at most 128 characters");

export const RoleName = z.enum(ROLES, { error: `must be one of ${ROLES.join(", ")}` });
