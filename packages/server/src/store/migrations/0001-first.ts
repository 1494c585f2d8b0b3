import type { Migration } from "../migrate.ts";

/**
 * Accounts, projects, keys, links, manifests and the hourly roll-ups of calls. The calls themselves
 * live in one table a day (see `call-days.ts`). Times are ms since 1970 UTC, flags 0 or 1.
 */
export const first: Migration = {
  number: 1,
  name: "first",
  sql: `
CREATE TABLE accounts (
  account_id TEXT PRIMARY KEY,
  is_operator INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX accounts_operator ON accounts (is_operator) WHERE is_operator = 1;

CREATE TABLE projects (
  project_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (account_id),
  name TEXT NOT NULL,
  calls_per_minute INTEGER NOT NULL,
  allowed_origins TEXT NOT NULL, -- a JSON array of texts
  suspended INTEGER NOT NULL,
  stopped INTEGER NOT NULL,
  free_calls_per_month INTEGER,
  price_micros_per_call INTEGER NOT NULL,
  spend_cap_micros INTEGER,
  created_at INTEGER NOT NULL,
  live_links INTEGER NOT NULL DEFAULT 0 -- links that are not revoked; kept by triggers
) STRICT, WITHOUT ROWID;
CREATE INDEX projects_account ON projects (account_id);
CREATE INDEX projects_created ON projects (created_at, project_id);

CREATE TABLE keys (
  key_id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (project_id),
  kind TEXT NOT NULL CHECK (kind IN ('pk', 'sk')),
  hash BLOB NOT NULL UNIQUE, -- SHA-256 of the key
  plain TEXT, -- the whole key where it is public
  last4 TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX keys_project ON keys (project_id, created_at, key_id);

CREATE TABLE manifests (
  hash TEXT PRIMARY KEY,
  app_name TEXT NOT NULL,
  app_version TEXT NOT NULL,
  tool_count INTEGER NOT NULL,
  warnings TEXT NOT NULL, -- a JSON array of { path, message }
  instructions TEXT,
  tools_text TEXT NOT NULL
) STRICT;

CREATE TABLE links (
  link_id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (project_id),
  label TEXT,
  label_order TEXT NOT NULL, -- the label in lower case; U+10FFFF without one, to come last
  paused INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  last_seen_at INTEGER, -- null until an app connects
  last_call_at INTEGER,
  link_token_hash BLOB NOT NULL UNIQUE,
  url_token_hash BLOB NOT NULL UNIQUE,
  made_with_secret_key INTEGER NOT NULL,
  sealed_url BLOB,
  owner_node TEXT,
  owner_epoch INTEGER NOT NULL DEFAULT 0,
  manifest_hash TEXT REFERENCES manifests (hash),
  client_name TEXT,
  client_version TEXT,
  is_live INTEGER NOT NULL GENERATED ALWAYS AS (revoked_at IS NULL) VIRTUAL,
  seen_order INTEGER NOT NULL GENERATED ALWAYS AS (ifnull(last_seen_at, 0)) VIRTUAL
) STRICT;
CREATE TRIGGER links_made AFTER INSERT ON links BEGIN
  UPDATE projects SET live_links = live_links + 1 WHERE project_id = NEW.project_id;
END;
CREATE TRIGGER links_revoked AFTER UPDATE OF revoked_at ON links
  WHEN OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL BEGIN
  UPDATE projects SET live_links = live_links - 1 WHERE project_id = NEW.project_id;
END;
CREATE TRIGGER links_removed AFTER DELETE ON links WHEN OLD.revoked_at IS NULL BEGIN
  UPDATE projects SET live_links = live_links - 1 WHERE project_id = OLD.project_id;
END;
-- The three orders of a project's list.
CREATE INDEX links_created ON links (project_id, is_live, created_at, link_id);
CREATE INDEX links_seen ON links (project_id, is_live, seen_order, link_id);
CREATE INDEX links_label ON links (project_id, is_live, label_order, link_id);
CREATE INDEX links_owner ON links (owner_node) WHERE owner_node IS NOT NULL;
CREATE INDEX links_manifest ON links (manifest_hash) WHERE manifest_hash IS NOT NULL;
CREATE INDEX links_revoked_at ON links (revoked_at) WHERE revoked_at IS NOT NULL;
-- Links that no app ever connected to: which give way, and which are swept.
CREATE INDEX links_unused ON links (project_id, created_at)
  WHERE last_seen_at IS NULL AND revoked_at IS NULL;
CREATE INDEX links_unused_age ON links (created_at)
  WHERE last_seen_at IS NULL AND revoked_at IS NULL;

CREATE TABLE call_hours (
  project_id TEXT NOT NULL,
  hour INTEGER NOT NULL, -- the ms at which it begins
  tool TEXT NOT NULL, -- '-' where the app has no such tool
  outcome TEXT NOT NULL,
  calls INTEGER NOT NULL,
  counted INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL, -- the sum
  -- How many calls took at most so many ms, and longer than the column before says.
  ms_1 INTEGER NOT NULL DEFAULT 0,
  ms_2 INTEGER NOT NULL DEFAULT 0,
  ms_5 INTEGER NOT NULL DEFAULT 0,
  ms_10 INTEGER NOT NULL DEFAULT 0,
  ms_20 INTEGER NOT NULL DEFAULT 0,
  ms_50 INTEGER NOT NULL DEFAULT 0,
  ms_100 INTEGER NOT NULL DEFAULT 0,
  ms_200 INTEGER NOT NULL DEFAULT 0,
  ms_500 INTEGER NOT NULL DEFAULT 0,
  ms_1000 INTEGER NOT NULL DEFAULT 0,
  ms_2000 INTEGER NOT NULL DEFAULT 0,
  ms_5000 INTEGER NOT NULL DEFAULT 0,
  ms_10000 INTEGER NOT NULL DEFAULT 0,
  ms_20000 INTEGER NOT NULL DEFAULT 0,
  ms_50000 INTEGER NOT NULL DEFAULT 0,
  ms_100000 INTEGER NOT NULL DEFAULT 0,
  ms_200000 INTEGER NOT NULL DEFAULT 0,
  ms_more INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, hour, tool, outcome)
) STRICT, WITHOUT ROWID;

-- One row that is rewritten to find out whether the database can be written.
CREATE TABLE probes (only INTEGER PRIMARY KEY CHECK (only = 1), at INTEGER NOT NULL) STRICT;
INSERT INTO probes (only, at) VALUES (1, 0);
`,
};
