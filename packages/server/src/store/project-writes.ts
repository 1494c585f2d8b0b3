import type { AccountId, KeyId, ProjectId } from "@relay/protocol";
import type { Connection } from "./connection.ts";
import { getProject } from "./reads.ts";
import { integer, text } from "./rows.ts";
import type {
  CreatedKey,
  CreatedProject,
  KeyRules,
  NewKey,
  NewProject,
  Project,
  ProjectChanges,
} from "./store.ts";
import type { WriteContext } from "./write-context.ts";

const OPERATOR_ACCOUNT = "SELECT account_id, is_operator FROM accounts WHERE is_operator = 1";
const ACCOUNT_BY_ID = "SELECT account_id, is_operator FROM accounts WHERE account_id = ?";

export function createAccount({ db }: WriteContext, accountId: AccountId, at: number): void {
  db.run(
    "INSERT INTO accounts (account_id, is_operator, created_at) VALUES (?, 0, ?)",
    accountId,
    at,
  );
}

export function createProject(
  context: WriteContext,
  project: NewProject,
  keys: readonly NewKey[],
): CreatedProject {
  const { db } = context;
  const { accountId: named } = project;
  const account = named === null ? db.get(OPERATOR_ACCOUNT) : db.get(ACCOUNT_BY_ID, named);
  if (account === undefined) return "no_account";
  const accountId = text(account, "account_id");
  if (integer(account, "is_operator") === 0) {
    const owned = db.get(
      "SELECT count(*) AS n FROM projects WHERE account_id = ? AND deleted_at IS NULL",
      accountId,
    );
    if (owned === undefined || integer(owned, "n") >= project.projectsMax) return "limit_reached";
  }
  db.run(
    `INSERT INTO projects (project_id, account_id, name, calls_per_minute, allowed_origins, suspended,
       stopped, free_calls_per_month, price_micros_per_call, spend_cap_micros, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    project.projectId,
    accountId,
    ...settingsOf(project),
    project.createdAt,
  );
  for (const key of keys) insertKey(context, key);
  return "created";
}

export function changeProject(
  { db }: WriteContext,
  projectId: ProjectId,
  changes: ProjectChanges,
): Project | null {
  const before = getProject(db, projectId);
  if (before === null) return null;
  const project: Project = { ...before, ...changes };
  db.run(
    `UPDATE projects SET name = ?, calls_per_minute = ?, allowed_origins = ?, suspended = ?,
       stopped = ?, free_calls_per_month = ?, price_micros_per_call = ?, spend_cap_micros = ?
     WHERE project_id = ?`,
    ...settingsOf(project),
    projectId,
  );
  return project;
}

/** What may change of a project, in the order of its columns. */
function settingsOf(project: Omit<Project, "accountId">): (string | number | null)[] {
  return [
    project.name,
    project.callsPerMinute,
    JSON.stringify(project.allowedOrigins),
    Number(project.suspended),
    Number(project.stopped),
    project.freeCallsPerMonth,
    project.priceMicrosPerCall,
    project.spendCapMicros,
  ];
}

/** So many of a project's dead keys are still listed. */
const DEAD_KEYS_KEPT = 50;

/** `rules` undefined allows every key. */
export function createKey(context: WriteContext, key: NewKey, rules?: KeyRules): CreatedKey {
  const { db } = context;
  if (getProject(db, key.projectId) === null) return "no_project";
  if (rules !== undefined) {
    const { n } = db.get(LIVE_KEYS, key.projectId, key.createdAt) ?? {};
    if (Number(n) >= rules.liveMax) return "limit_reached";
    if (rules.replaces !== null && !expireKey(db, key, rules.replaces)) return "no_key";
  }
  insertKey(context, key);
  db.run(
    `DELETE FROM keys WHERE key_id IN
       (SELECT key_id FROM keys WHERE project_id = ? AND (revoked_at IS NOT NULL OR expires_at <= ?)
        ORDER BY created_at DESC, key_id DESC LIMIT -1 OFFSET ${DEAD_KEYS_KEPT})`,
    key.projectId,
    key.createdAt,
  );
  return "created";
}

const LIVE_KEYS = `SELECT count(*) AS n FROM keys WHERE project_id = ? AND revoked_at IS NULL
  AND (expires_at IS NULL OR expires_at > ?)`;

/** Lets the live key that `key` replaces expire, never later than it would have. */
function expireKey(
  db: Connection,
  key: NewKey,
  { keyId, expiresAt }: NonNullable<KeyRules["replaces"]>,
): boolean {
  const expired = db.run(
    `UPDATE keys SET expires_at = min(ifnull(expires_at, ?1), ?1)
     WHERE key_id = ?2 AND project_id = ?3 AND kind = ?4 AND revoked_at IS NULL
       AND (expires_at IS NULL OR expires_at > ?5)`,
    expiresAt,
    keyId,
    key.projectId,
    key.kind,
    key.createdAt,
  );
  return expired > 0;
}

function insertKey({ db }: WriteContext, key: NewKey): void {
  db.run(
    `INSERT INTO keys (key_id, project_id, kind, hash, plain, last4, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    key.keyId,
    key.projectId,
    key.kind,
    key.hash,
    key.plain,
    key.last4,
    key.createdAt,
    key.expiresAt,
  );
}

export function revokeKey(
  { db }: WriteContext,
  projectId: ProjectId,
  keyId: KeyId,
  at: number,
): boolean {
  const revoked = db.run(
    `UPDATE keys SET revoked_at = ?1 WHERE key_id = ?2 AND project_id = ?3 AND revoked_at IS NULL
       AND (expires_at IS NULL OR expires_at > ?1)`,
    at,
    keyId,
    projectId,
  );
  return revoked > 0;
}

/** One key's latest use. */
export type KeyUse = { readonly keyId: KeyId; readonly at: number };

export function writeKeyUses({ db }: WriteContext, uses: readonly KeyUse[]): void {
  for (const { keyId, at } of uses) {
    db.run(
      "UPDATE keys SET last_used_at = max(ifnull(last_used_at, 0), ?) WHERE key_id = ?",
      at,
      keyId,
    );
  }
}
