import { countCodePoints } from "@relay/protocol";
import type { AppInfo, Limits, LintWarning } from "@relay/protocol";
import { hasLoneSurrogate, rawSlice, utf8Bytes } from "./json.ts";
import { lintTools } from "./lint.ts";
import { isJsonObject, ownValue } from "./schema/json-object.ts";
import { cutText, placeText } from "./schema/place.ts";
import { Toolbox } from "./toolbox.ts";

/** What a hello says of its app, as `readJson` read it. */
export type HelloParts = {
  readonly app: unknown;
  readonly instructions: unknown;
  readonly tools: unknown;
};

/** The raw texts of the same; `instructions` is null where the hello has none. */
export type HelloTexts = {
  readonly app: string;
  readonly instructions: string | null;
  readonly tools: string;
};

/** What a valid hello becomes; `toolsText` is the raw text of `tools` on one line. */
export type AdmittedManifest = {
  readonly app: AppInfo;
  readonly instructions: string | null;
  readonly toolsText: string;
  readonly toolCount: number;
  readonly warnings: readonly LintWarning[];
};

export type Admission =
  | { readonly ok: true; readonly manifest: AdmittedManifest; readonly toolbox: Toolbox }
  | { readonly ok: false; readonly message: string };

type ManifestLimits = Pick<
  Limits,
  | "appNameChars"
  | "instructionsChars"
  | "manifestBytes"
  | "toolDescriptionChars"
  | "toolNameChars"
  | "tools"
>;

/**
 * Decides whether a hello may become the link's manifest (SPEC 5). The first broken rule wins, sizes
 * before contents; the message names the place and has at most 500 code points.
 */
export function admitManifest(
  hello: HelloParts,
  raw: HelloTexts,
  limits: ManifestLimits,
): Admission {
  const { tools } = hello;
  if (!Array.isArray(tools)) return refuse("tools must be an array");
  const fault =
    sizeFault(raw, tools.length, limits) ??
    appFault(hello.app, limits.appNameChars) ??
    instructionsFault(hello.instructions, limits.instructionsChars) ??
    surrogateFault(hello, raw);
  if (fault !== null) return refuse(fault);
  const judged = Toolbox.judge(tools, limits);
  if (!judged.ok) return refuse(judged.message);
  const { toolbox, definitions } = judged;
  const manifest: AdmittedManifest = {
    app: appInfo(hello.app),
    instructions: typeof hello.instructions === "string" ? hello.instructions : null,
    toolsText: rawSlice(raw.tools, { start: 0, end: raw.tools.length }),
    toolCount: tools.length,
    warnings: lintTools(definitions),
  };
  return { ok: true, manifest, toolbox };
}

function sizeFault(raw: HelloTexts, toolCount: number, limits: ManifestLimits): string | null {
  const bytesMax = limits.manifestBytes;
  const bytes = utf8Bytes(raw.app) + utf8Bytes(raw.instructions ?? "") + utf8Bytes(raw.tools);
  if (bytes > bytesMax) {
    return `app, instructions and tools: at most ${bytesMax} bytes as JSON together, not ${bytes}`;
  }
  if (toolCount <= limits.tools) return null;
  return `tools: at most ${limits.tools} tools, not ${toolCount}`;
}

function appFault(app: unknown, charsMax: number): string | null {
  if (!isJsonObject(app)) return "app must be an object";
  for (const key of ["name", "version"]) {
    const value = ownValue(app, key);
    const fits =
      typeof value === "string" && value !== "" && countCodePoints(value, charsMax) <= charsMax;
    if (!fits) return `app.${key} must be a string of 1 to ${charsMax} characters`;
  }
  return null;
}

function appInfo(app: unknown): AppInfo {
  // `appFault` has made sure of both.
  const { name, version } = app as AppInfo;
  return { name, version };
}

function instructionsFault(instructions: unknown, charsMax: number): string | null {
  if (instructions === undefined) return null;
  if (typeof instructions !== "string") return "instructions must be a string";
  if (countCodePoints(instructions, charsMax) <= charsMax) return null;
  return `instructions must be at most ${charsMax} characters`;
}

/** No host can be sent half of a surrogate pair: model APIs refuse the whole conversation for one. */
function surrogateFault(hello: HelloParts, raw: HelloTexts): string | null {
  for (const part of ["app", "instructions", "tools"] as const) {
    const text = raw[part];
    if (text === null || !hasLoneSurrogate(text)) continue;
    const keys = illFormedPlace(hello[part]) ?? [];
    return `${placeText([part, ...keys])} must not hold half of a surrogate pair`;
  }
  return null;
}

/** Finds the first string or key that is not well formed; a key is found at its object. */
function illFormedPlace(value: unknown): readonly (string | number)[] | null {
  if (typeof value === "string") return value.isWellFormed() ? null : [];
  if (typeof value !== "object" || value === null) return null;
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, item] of entries) {
    if (typeof key === "string" && !key.isWellFormed()) return [];
    const inner = illFormedPlace(item);
    if (inner !== null) return [key, ...inner];
  }
  return null;
}

const MESSAGE_CODE_POINTS_MAX = 500;

function refuse(message: string): Admission {
  return { ok: false, message: cutText(message, MESSAGE_CODE_POINTS_MAX) };
}
