import { translateError } from "./connection.ts";
import { StoreError } from "./store.ts";

/** An error as it crosses between threads; `bug` is any that is not the store's own. */
export type Failure = { readonly code: StoreError["code"] | "bug"; readonly message: string };

export function failureOf(thrown: unknown): Failure {
  const error = translateError(thrown);
  return { code: error instanceof StoreError ? error.code : "bug", message: error.message };
}

export function errorOf({ code, message }: Failure): Error {
  return code === "bug" ? new Error(message) : new StoreError(code, message);
}
