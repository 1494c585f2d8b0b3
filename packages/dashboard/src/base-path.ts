/**
 * The path under which Relay serves this page, with a slash at both ends: `/` or `/relay/`. Taken
 * from where this script lies, which is one folder below it.
 */
export const BASE_PATH = new URL("..", import.meta.url).pathname;
