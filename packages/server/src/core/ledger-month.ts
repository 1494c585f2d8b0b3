/** A month of UTC, `YYYY-MM`, from its first ms to the first of the next. */
export type Month = { readonly name: string; readonly startMs: number; readonly endMs: number };

const DAY_MS = 86_400_000;

/** Tells the UTC month that a moment lies in: a call belongs to that of its admission (SPEC 10). */
export function monthAt(ms: number): Month {
  const [year, month] = civilMonth(Math.floor(ms / DAY_MS));
  return monthOf(year, month);
}

/** Reads a month's name, such as `2026-11`; throws on any other text. */
export function monthNamed(name: string): Month {
  if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(name)) throw new Error(`${name} is not a month`);
  return monthOf(Number(name.slice(0, 4)), Number(name.slice(5)));
}

function monthOf(year: number, month: number): Month {
  return {
    name: `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}`,
    startMs: firstDay(year, month) * DAY_MS,
    endMs: firstDay(month === 12 ? year + 1 : year, (month % 12) + 1) * DAY_MS,
  };
}

const DAYS_IN_400_YEARS = 146_097;
/** Days from 0000-03-01, where the count of leap days begins anew, to 1970-01-01. */
const DAYS_BEFORE_1970 = 719_468;

/** The number since 1970 of a month's first day. */
function firstDay(year: number, month: number): number {
  const yearFromMarch = month <= 2 ? year - 1 : year;
  const era = Math.floor(yearFromMarch / 400);
  const yearOfEra = yearFromMarch - era * 400;
  const monthFromMarch = month > 2 ? month - 3 : month + 9;
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5);
  const leaps = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  return era * DAYS_IN_400_YEARS + yearOfEra * 365 + leaps + dayOfYear - DAYS_BEFORE_1970;
}

/** The year and the month (1 to 12) of a day since 1970, by the rules of the calendar alone. */
function civilMonth(dayNumber: number): readonly [year: number, month: number] {
  const days = dayNumber + DAYS_BEFORE_1970;
  const era = Math.floor(days / DAYS_IN_400_YEARS);
  const dayOfEra = days - era * DAYS_IN_400_YEARS;
  const leaps =
    Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  // Years that begin in March put the odd days at their end.
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return [yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month];
}
