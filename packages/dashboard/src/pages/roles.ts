import type { Role } from "../api/shapes.ts";

export const ROLES: readonly Role[] = ["owner", "admin", "developer", "billing"];

/** What each role may do, for the person who chooses one. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  owner: "everything, and who else is an owner.",
  admin: "everything but the owners.",
  developer: "projects, links, calls and keys.",
  billing: "sees everything, sets what costs money.",
};
