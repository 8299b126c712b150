/** Texts of instants (UTC, six fraction digits, `Z`) or of days. As text, the infinite ones are before and after all others. */
export const beginning = "-infinity";
export const end = "infinity";

/** From `from`, inclusive, to `to`, exclusive. */
export interface Interval {
  from: string;
  to: string;
}

export const always: Interval = { from: beginning, to: end };

/** Whole days, whole months (from their first days), or all time. */
export type Grain = "day" | "month" | "ever";

/** A part of an interval. */
export type Part =
  | ({ grain: Grain } & Interval)
  /** Up to half a day, between two instants, to be added (1) or taken away (-1). */
  | ({ grain: "instant"; sign: 1 | -1 } & Interval);

/**
 * Divides an interval between two instants into few parts: whole months, the whole days beside them, and what the first and
 * the last day have more or less than that, whichever is shorter. No part is coarser than `coarsest`.
 */
export function partsOf({ from, to }: Interval, coarsest: Grain): Part[] {
  if (from >= to) return [];
  if (dayOf(from) === dayOf(to)) return instants(1, from, to);
  const [first, last] = [nearestMidnight(from), nearestMidnight(to)];
  return [
    ...instants(1, from, midnightOf(first)),
    ...instants(-1, midnightOf(first), from),
    ...wholeDays({ from: first, to: last }, coarsest),
    ...instants(-1, to, midnightOf(last)),
    ...instants(1, midnightOf(last), to),
  ];
}

/** The day that begins at the midnight nearest to an instant. */
const nearestMidnight = (instant: string) =>
  isInfinite(instant) || instant.slice(11) < "12:00:00.000000Z" ? dayOf(instant) : dayAfter(dayOf(instant));

function wholeDays({ from, to }: Interval, coarsest: Grain): Part[] {
  if (from === beginning && to === end && coarsest === "ever") return [{ grain: "ever", from, to }];
  const firstMonth = isInfinite(from) || from === monthOf(from) ? from : monthAfter(from);
  const lastMonth = isInfinite(to) ? to : monthOf(to);
  if (coarsest === "day" || firstMonth >= lastMonth) return days(from, to);
  return [
    ...days(from, firstMonth),
    { grain: "month", from: firstMonth, to: lastMonth },
    ...days(lastMonth, to),
  ];
}

const instants = (sign: 1 | -1, from: string, to: string): Part[] =>
  from < to ? [{ grain: "instant", sign, from, to }] : [];
const days = (from: string, to: string): Part[] => (from < to ? [{ grain: "day", from, to }] : []);

const isInfinite = (text: string) => text === beginning || text === end;
const dayOf = (instant: string) => (isInfinite(instant) ? instant : instant.slice(0, 10));

/** The beginning of a day, as an instant. */
export const midnightOf = (day: string): string => (isInfinite(day) ? day : `${day}T00:00:00.000000Z`);

/** The day after a day; `end` after the last day of the year 9999. */
export function dayAfter(day: string): string {
  const next = new Date(Date.parse(`${day}T00:00:00Z`) + 24 * 60 * 60 * 1000).toISOString();
  return /^\d{4}-/.test(next) ? next.slice(0, 10) : end;
}

/** The first day of the month of a day. */
const monthOf = (day: string) => `${day.slice(0, 7)}-01`;

/** The first day of the next month; `end` after the year 9999. */
function monthAfter(day: string): string {
  // No month has more than 31 days, and 32 days after its first day is the next month.
  const next = new Date(Date.parse(`${monthOf(day)}T00:00:00Z`) + 32 * 24 * 60 * 60 * 1000).toISOString();
  return /^\d{4}-/.test(next) ? monthOf(next) : end;
}
