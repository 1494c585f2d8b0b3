import type { Migration } from "../migrate.ts";

/** What the dashboard needs: links made to try an app, projects on their way out, what came first. */
export const dashboard: Migration = {
  number: 5,
  name: "dashboard",
  sql: `
-- 1 for a link that its developer made to try the app with, which is no person's.
ALTER TABLE links ADD COLUMN trial INTEGER NOT NULL DEFAULT 0;

-- Set once the project is deleted: nobody sees it any more, and what it had is dropped bit by bit.
ALTER TABLE projects ADD COLUMN deleted_at INTEGER;
CREATE INDEX projects_deleted ON projects (deleted_at) WHERE deleted_at IS NOT NULL;

-- Whether any host was ever there, and when a call first went well.
CREATE INDEX links_client ON links (project_id) WHERE client_name IS NOT NULL;
CREATE INDEX call_hours_ok ON call_hours (project_id, hour) WHERE outcome = 'ok';
`,
};
