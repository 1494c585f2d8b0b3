import type { StringRules } from "./schema-node.ts";
import type { Steps } from "./steps.ts";
import type { Visit } from "./visit.ts";

const UNITS_PER_STEP = 4;

/** Checks the keywords for strings, in the order in which Ajv reports them. */
export function checkString(visit: Visit, rules: StringRules | null, value: string): boolean {
  if (rules === null) return true;
  const { maxLength, minLength, pattern } = rules;
  // A code point is one or two units, so that most lengths are decided without counting.
  if (value.length > maxLength && countPoints(value, visit.steps) > maxLength) {
    return visit.fail(`must NOT have more than ${maxLength} characters`);
  }
  if (value.length < 2 * minLength - 1) {
    if (value.length < minLength || countPoints(value, visit.steps) < minLength) {
      return visit.fail(`must NOT have fewer than ${minLength} characters`);
    }
  }
  if (pattern === null || visit.matches(pattern, value)) return true;
  return visit.fail(`must match pattern "${pattern.source}"`);
}

function countPoints(value: string, steps: Steps): number {
  steps.spend(Math.ceil(value.length / UNITS_PER_STEP));
  let points = value.length;
  for (let index = 1; index < value.length; index += 1) {
    const unit = value.charCodeAt(index);
    if (unit < 0xdc00 || unit > 0xdfff) continue;
    const before = value.charCodeAt(index - 1);
    if (before >= 0xd800 && before <= 0xdbff) points -= 1;
  }
  return points;
}
