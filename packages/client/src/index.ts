/**
 * The app's side of Relay. Keeps one link connected and answers its calls, in any runtime that has
 * a global `WebSocket`. What only the server needs does not belong here.
 */
export * from "./connect-app.ts";
export * from "./reconnect.ts";
