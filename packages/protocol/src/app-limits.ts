/**
 * The limits that an app can check before Relay does. They stand apart from the table of all limits,
 * which takes its values from here, and each by itself, so that an app's bundle carries bare numbers.
 */
export const TOOLS_MAX = 64;
export const MANIFEST_BYTES_MAX = 64 * 1024;
export const APP_NAME_CHARS_MAX = 64;
export const TOOL_NAME_CHARS_MAX = 64;
export const TOOL_DESCRIPTION_CHARS_MAX = 2_000;
export const INSTRUCTIONS_CHARS_MAX = 4_000;
export const PROGRESS_MESSAGE_CHARS_MAX = 1_000;
