import { keep, readKept } from "./theme.ts";

const KEY = "relay-project";

/** The project that was last looked at in this browser. */
export function lastProject(): string | null {
  const kept = readKept(KEY);
  return kept === "" ? null : kept;
}

export function noteProject(projectId: string): void {
  keep(KEY, projectId);
}

export function forgetProject(): void {
  keep(KEY, "");
}
