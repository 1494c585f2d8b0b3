import type { ProjectId } from "@relay/protocol";
import { hashToken, mintKeyId, mintToken } from "../ids.ts";
import type { KeyKind, NewKey } from "../store/store.ts";

/** Mints a key; `key` is what is stored and `text` what is shown once. */
export function mintKey(
  projectId: ProjectId,
  kind: KeyKind,
  createdAt: number,
  expiresAt: number | null,
): { readonly key: NewKey; readonly text: string } {
  const text = mintToken(kind === "pk" ? "publishableKey" : "secretKey");
  const key = {
    keyId: mintKeyId(createdAt),
    projectId,
    kind,
    hash: hashToken(text),
    plain: kind === "pk" ? text : null,
    last4: text.slice(-4),
    createdAt,
    expiresAt,
  };
  return { key, text };
}
