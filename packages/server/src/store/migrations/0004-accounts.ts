import type { Migration } from "../migrate.ts";

/** Who belongs to which account, who is invited, and what was done. People are kept in `auth.db`. */
export const accounts: Migration = {
  number: 4,
  name: "accounts",
  sql: `
ALTER TABLE accounts ADD COLUMN name TEXT NOT NULL DEFAULT '';
-- Whose own account it is, which a person gets once.
ALTER TABLE accounts ADD COLUMN own_user_id TEXT;
CREATE UNIQUE INDEX accounts_own_user ON accounts (own_user_id) WHERE own_user_id IS NOT NULL;

CREATE TABLE members (
  account_id TEXT NOT NULL REFERENCES accounts (account_id),
  user_id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'billing')),
  joined_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_account ON members (account_id, joined_at, user_id);
CREATE INDEX members_user ON members (user_id, joined_at, account_id);

-- Open ones alone: an invitation that is accepted or revoked goes.
CREATE TABLE invitations (
  invitation_id TEXT PRIMARY KEY,
  account_id TEXT REFERENCES accounts (account_id), -- null invites to an account of one's own
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'billing')),
  note TEXT,
  hash BLOB NOT NULL UNIQUE, -- SHA-256 of its token
  invited_by TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  sign_ups INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX invitations_account ON invitations (account_id, created_at, invitation_id);
CREATE INDEX invitations_expiry ON invitations (expires_at);

-- The first account of all is set up once, for good.
CREATE TABLE set_up (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  claimed_at INTEGER NOT NULL,
  user_id TEXT -- null until the claim has made its user
) STRICT;

CREATE TABLE audit (
  audit_id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  account_id TEXT,
  project_id TEXT,
  user_id TEXT,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT,
  before TEXT,
  after TEXT,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL
) STRICT;
CREATE INDEX audit_at ON audit (at, audit_id);
CREATE INDEX audit_account ON audit (account_id, at, audit_id);
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
  BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
  WHEN old.at > unixepoch() * 1000 - 400 * 86400000
  BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
`,
};
