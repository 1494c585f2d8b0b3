import { SETTINGS } from "../config.ts";

/** Lists every setting with its default and what it is for, as text for a terminal. */
export function printConfig(): string {
  const blocks = SETTINGS.map((setting) => {
    const bounds = setting.choices === undefined ? "" : ` (${setting.choices.join(" | ")})`;
    const fallback = setting.default === "" ? "not set" : setting.default;
    return `${setting.env}  ${setting.flag}${bounds}\n    default ${fallback}\n    ${setting.doc}\n`;
  });
  return `Every setting is an environment variable or a flag; a flag wins.\n\n${blocks.join("\n")}`;
}
