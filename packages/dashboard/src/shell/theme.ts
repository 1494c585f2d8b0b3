export type Theme = "system" | "light" | "dark";
export const THEMES: readonly Theme[] = ["system", "light", "dark"];

const KEY = "relay-theme";

/** The look that was chosen in this browser. */
export function chosenTheme(): Theme {
  const kept = readKept(KEY);
  return THEMES.find((theme) => theme === kept) ?? "system";
}

/** Applies a look and keeps it in this browser. */
export function chooseTheme(theme: Theme): void {
  keep(KEY, theme);
  applyTheme(theme);
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  // Charts draw on a canvas, which no style sheet reaches.
  window.dispatchEvent(new Event("relay-theme"));
}

/** Null where the browser keeps nothing, as some do in private windows. */
export function readKept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch (error) {
    // What is not kept is asked for again; no reason to trouble anybody.
    console.info("this browser keeps nothing for Relay", error);
  }
}
