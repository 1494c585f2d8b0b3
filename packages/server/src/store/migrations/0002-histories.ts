import type { Migration } from "../migrate.ts";

/** What became of each link's last sockets, and how its manifest changed. */
export const histories: Migration = {
  number: 2,
  name: "histories",
  sql: `
CREATE TABLE link_sockets (
  link_id TEXT NOT NULL REFERENCES links (link_id) ON DELETE CASCADE,
  epoch INTEGER NOT NULL,
  node TEXT NOT NULL,
  connected_at INTEGER NOT NULL,
  disconnected_at INTEGER, -- null while it is open
  close_code INTEGER, -- null while it is open, and where nobody saw it close
  close_reason TEXT,
  app_name TEXT NOT NULL,
  app_version TEXT NOT NULL,
  taken_over INTEGER NOT NULL DEFAULT 0, -- 1 once a newer socket took over while it was open
  PRIMARY KEY (link_id, epoch)
) STRICT, WITHOUT ROWID;
-- What a process that died leaves open besides the sockets of the links it owned. Few at any time,
-- so that to connect and to leave cost nothing here.
CREATE INDEX link_sockets_taken_over ON link_sockets (node)
  WHERE taken_over = 1 AND disconnected_at IS NULL;

CREATE TABLE link_manifests (
  link_id TEXT NOT NULL REFERENCES links (link_id) ON DELETE CASCADE,
  epoch INTEGER NOT NULL, -- of the socket that brought it
  hash TEXT NOT NULL, -- the manifest itself may be gone
  at INTEGER NOT NULL,
  added TEXT NOT NULL, -- JSON arrays of names of tools
  removed TEXT NOT NULL,
  changed TEXT NOT NULL,
  PRIMARY KEY (link_id, epoch)
) STRICT, WITHOUT ROWID;
`,
};
