const TEXT_BYTES_MAX = 4_096;
const HIDDEN = "…";
/** Fields whose value is a secret whatever it looks like. */
const SECRET_FIELD = /password|secret|token|backup|recovery|^code$|^otp$|credential|signature/i;
/** Relay's own tokens wherever they stand: in a URL, in a name, in the middle of a word. */
const TOKEN = /((?:lt|ut|sk|op|iv|su|rp)_)[0-9A-Za-z]{16,}/g;

/**
 * Writes a value as the audit log keeps it: JSON without secrets, at most 4 KiB, else a note of its
 * size. Null for undefined.
 */
export function withoutSecrets(value: unknown): string | null {
  if (value === undefined) return null;
  const text = JSON.stringify(value, (name, field: unknown) =>
    SECRET_FIELD.test(name) && field !== null && typeof field !== "boolean" ? HIDDEN : field,
  ).replaceAll(TOKEN, `$1${HIDDEN}`);
  const bytes = Buffer.byteLength(text);
  return bytes <= TEXT_BYTES_MAX ? text : JSON.stringify({ omittedBytes: bytes });
}
