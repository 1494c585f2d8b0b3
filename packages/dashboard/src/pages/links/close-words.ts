import { CLOSE_CODES } from "@relay/protocol";

const OTHERS: Readonly<Record<number, string>> = {
  1000: "The app closed it, as planned.",
  1001: "The app went away: closed, or its page was left.",
  1005: "The app closed it and said no code.",
  1006: "The connection was lost: no network, the device slept, or it was silent for too long.",
};

/** What a close code means, for somebody who looks for the reason. */
export function closeWords(code: number | null): string {
  if (code === null) return "Relay did not see it close.";
  const rule = Object.entries(CLOSE_CODES).find(([known]) => Number(known) === code)?.[1];
  return (rule?.meaning ?? OTHERS[code] ?? "A code of the app’s own.").replaceAll("`", "");
}

/** Whether a close is part of everyday life, and no sign of trouble. */
export function isUsualClose(code: number | null): boolean {
  return code !== null && [1000, 1001, 1005, 1012, 4001].includes(code);
}
