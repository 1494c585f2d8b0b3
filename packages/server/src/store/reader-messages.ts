import type { Failure } from "./failure.ts";
import type { ListCall } from "./lists.ts";

export type ReaderSettings = { readonly path: string };

export type ToReader =
  | { readonly type: "list"; readonly id: number; readonly call: ListCall }
  | { readonly type: "close" };

export type FromReader =
  | { readonly type: "opened" }
  | { readonly type: "failed"; readonly failure: Failure }
  | { readonly type: "read"; readonly id: number; readonly result: unknown }
  | { readonly type: "refused"; readonly id: number; readonly failure: Failure };
