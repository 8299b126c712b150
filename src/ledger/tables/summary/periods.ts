/** Texts of instants (UTC, six fraction digits, `Z`) or of days. As text, the infinite ones are before and after all others. */
export const beginning = "-infinity";
export const end = "infinity";

/** From `from`, inclusive, to `to`, exclusive. */
export interface Interval {
  from: string;
  to: string;
}

export const always: Interval = { from: beginning, to: end };
export const isAlways = ({ from, to }: Interval): boolean => from === beginning && to === end;

/** Whole hours, whole days, whole months (from their first days), or all time. */
export type Grain = "hour" | "day" | "month" | "ever";

/** A part of an interval. */
export type Part =
  | ({ grain: Exclude<Grain, "hour"> } & Interval)
  /** Up to half a day of hours, or up to half an hour, between two instants, to be added (1) or taken away (-1). */
  | ({ grain: "hour" | "instant"; sign: 1 | -1 } & Interval);

/**
 * Divides an interval between two instants into few parts: whole months, the whole days and hours beside them, and what the
 * first and the last hour have more or less than that, whichever is shorter. No part is coarser than `coarsest`.
 */
export function partsOf({ from, to }: Interval, coarsest: Grain): Part[] {
  if (from >= to) return [];
  const hours = wholeHoursOf({ from, to });
  return hours
    ? [...differences("instant", { from, to }, hours), ...partsOfHours(hours, coarsest)]
    : signed("instant", 1, from, to);
}

/** The interval between the beginnings of hours that are nearest to another one; undefined if they are the same hour. */
export function wholeHoursOf({ from, to }: Interval): Interval | undefined {
  const hours = { from: nearestHour(from), to: nearestHour(to) };
  return hours.from < hours.to ? hours : undefined;
}

function partsOfHours(hours: Interval, coarsest: Grain): Part[] {
  const [first, last] = [nearestMidnight(hours.from), nearestMidnight(hours.to)];
  if (coarsest === "hour" || first >= last) return signed("hour", 1, hours.from, hours.to);
  const midnights = { from: midnightOf(first), to: midnightOf(last) };
  return [...differences("hour", hours, midnights), ...wholeDays({ from: first, to: last }, coarsest)];
}

/** What an interval has more or less than another one at both ends. */
const differences = (grain: "hour" | "instant", { from, to }: Interval, other: Interval): Part[] => [
  ...signed(grain, 1, from, other.from),
  ...signed(grain, -1, other.from, from),
  ...signed(grain, -1, to, other.to),
  ...signed(grain, 1, other.to, to),
];

/** The day that begins at the midnight nearest to an instant. */
const nearestMidnight = (instant: string) =>
  isInfinite(instant) || instant.slice(11) < "12:00:00.000000Z" ? dayOf(instant) : dayAfter(dayOf(instant));

/** The beginning of the hour that is nearest to an instant. */
const nearestHour = (instant: string) =>
  isInfinite(instant) || instant.slice(14) < "30:00.000000Z" ? hourOf(instant) : hourAfter(instant);

function wholeDays({ from, to }: Interval, coarsest: Grain): Part[] {
  if (isAlways({ from, to }) && coarsest === "ever") return [{ grain: "ever", from, to }];
  const firstMonth = isInfinite(from) || from === monthOf(from) ? from : monthAfter(from);
  const lastMonth = isInfinite(to) ? to : monthOf(to);
  if (coarsest === "day" || firstMonth >= lastMonth) return days(from, to);
  return [
    ...days(from, firstMonth),
    { grain: "month", from: firstMonth, to: lastMonth },
    ...days(lastMonth, to),
  ];
}

const signed = (grain: "hour" | "instant", sign: 1 | -1, from: string, to: string): Part[] =>
  from < to ? [{ grain, sign, from, to }] : [];
const days = (from: string, to: string): Part[] => (from < to ? [{ grain: "day", from, to }] : []);

const isInfinite = (text: string) => text === beginning || text === end;

/** The day of an instant (UTC). */
export const dayOf = (instant: string): string => (isInfinite(instant) ? instant : instant.slice(0, 10));

/** The beginning of the hour of an instant. */
const hourOf = (instant: string) => (isInfinite(instant) ? instant : `${instant.slice(0, 13)}:00:00.000000Z`);

/** The period, as `periodOf` names it, of the instant some hours later; `end` after the year 9999. */
function periodAfter(instant: string, hours: number, periodOf: (instant: string) => string): string {
  const next = new Date(Date.parse(instant) + hours * 60 * 60 * 1000).toISOString();
  return /^\d{4}-/.test(next) ? periodOf(next) : end;
}

/** The beginning of the next hour. */
const hourAfter = (instant: string) => periodAfter(hourOf(instant), 1, hourOf);

/** The beginning of a day, as an instant. */
export const midnightOf = (day: string): string => (isInfinite(day) ? day : `${day}T00:00:00.000000Z`);

/** The day after a day; `end` after the last day of the year 9999 and after `end`. */
export const dayAfter = (day: string): string =>
  isInfinite(day) ? day : periodAfter(midnightOf(day), 24, dayOf);

/** The first day of the month of a day. */
const monthOf = (day: string) => `${day.slice(0, 7)}-01`;

/** The first day of the next month. No month has more than 31 days, and 32 days after its first day is the next month. */
const monthAfter = (day: string) => periodAfter(midnightOf(monthOf(day)), 32 * 24, monthOf);
