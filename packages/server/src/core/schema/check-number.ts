import { isMultiple } from "./multiple-of.ts";
import type { NumberRules } from "./schema-node.ts";
import type { Visit } from "./visit.ts";

/** Checks the keywords for numbers, in the order in which Ajv reports them. */
export function checkNumber(visit: Visit, rules: NumberRules | null, value: number): boolean {
  if (rules === null) return true;
  if (value > rules.maximum) return visit.fail(`must be <= ${rules.maximum}`);
  if (value < rules.minimum) return visit.fail(`must be >= ${rules.minimum}`);
  if (value >= rules.exclusiveMaximum) return visit.fail(`must be < ${rules.exclusiveMaximum}`);
  if (value <= rules.exclusiveMinimum) return visit.fail(`must be > ${rules.exclusiveMinimum}`);
  if (Number.isNaN(rules.multipleOf)) return true;
  if (isMultiple(value, rules.multipleOf, rules.divisor, visit.steps)) return true;
  return visit.fail(`must be multiple of ${rules.multipleOf}`);
}
