import type { Migration } from "../migrate.ts";

/**
 * What a project's months have counted and cost, its account's balance with the ledger behind it,
 * and the outbox of what its developer is told. Money is in micro-units, a month `YYYY-MM` of UTC.
 * Months and entries outlive their project: the account's books must still add up.
 */
export const money: Migration = {
  number: 3,
  name: "money",
  sql: `
CREATE TABLE balances (
  account_id TEXT PRIMARY KEY REFERENCES accounts (account_id),
  balance_micros INTEGER NOT NULL, -- the sum of the ledger
  credits_micros INTEGER NOT NULL, -- the sum of the ledger without usage
  credits INTEGER NOT NULL -- how many entries that is
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger (
  entry_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (account_id),
  kind TEXT NOT NULL
    CHECK (kind IN ('purchase', 'grant', 'refund', 'dispute', 'adjustment', 'usage')),
  amount_micros INTEGER NOT NULL,
  project_id TEXT, -- whose usage it is
  source_key TEXT NOT NULL UNIQUE,
  note TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_account ON ledger (account_id, created_at, entry_id);
-- Nothing leaves the ledger, and of what is in it only the amount of a month's usage grows.
CREATE TRIGGER ledger_keeps BEFORE DELETE ON ledger BEGIN
  SELECT RAISE(ABORT, 'the ledger only grows');
END;
CREATE TRIGGER ledger_stays BEFORE UPDATE ON ledger
  WHEN OLD.kind <> 'usage' OR NEW.kind <> 'usage' OR NEW.account_id <> OLD.account_id
    OR NEW.source_key <> OLD.source_key OR NEW.amount_micros > OLD.amount_micros BEGIN
  SELECT RAISE(ABORT, 'an entry of the ledger does not change');
END;

-- Each time the mode changed; the last one is in force.
CREATE TABLE billing_modes (
  epoch INTEGER PRIMARY KEY,
  mode TEXT NOT NULL CHECK (mode IN ('off', 'quota', 'prepaid')),
  since INTEGER NOT NULL,
  low_balance_micros INTEGER NOT NULL
) STRICT;

-- A stretch of a project's month under the same terms; a call counts in that of its admission.
CREATE TABLE segments (
  segment_id INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL,
  month TEXT NOT NULL,
  epoch INTEGER NOT NULL REFERENCES billing_modes (epoch),
  mode TEXT NOT NULL,
  allowance INTEGER, -- null is unlimited
  price_micros INTEGER NOT NULL,
  counted_at_start INTEGER NOT NULL, -- calls of the month that had counted when it began
  counted_outside INTEGER NOT NULL, -- those among them that are in no segment: of mode off
  counted INTEGER NOT NULL DEFAULT 0, -- calls that counted in it
  started_at INTEGER NOT NULL
) STRICT;
CREATE INDEX segments_month ON segments (project_id, month, segment_id);

CREATE TABLE usage_months (
  project_id TEXT NOT NULL,
  month TEXT NOT NULL,
  account_id TEXT NOT NULL,
  spent_micros INTEGER NOT NULL DEFAULT 0, -- the sum of what its segments spent
  cap_peak_micros INTEGER, -- the highest cap it was opened with; null is none
  alerts INTEGER NOT NULL DEFAULT 0, -- bits of those that were raised
  PRIMARY KEY (project_id, month)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhooks (
  project_id TEXT PRIMARY KEY REFERENCES projects (project_id) ON DELETE CASCADE,
  url TEXT NOT NULL,
  sealed_secret BLOB NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_events (
  event_id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (project_id) ON DELETE CASCADE,
  type TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed', 'unsent')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER, -- null unless it waits
  last_attempt_at INTEGER,
  last_status INTEGER,
  last_error TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_events_due ON webhook_events (next_at, event_id) WHERE next_at IS NOT NULL;
CREATE INDEX webhook_events_waiting ON webhook_events (project_id, next_at, event_id)
  WHERE next_at IS NOT NULL;
CREATE INDEX webhook_events_project ON webhook_events (project_id, created_at, event_id);
`,
};
