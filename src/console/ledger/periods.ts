const dayMs = 86_400_000;

/** Sweden writes instants as ISO 8601 does. */
const instantFormat = (zone: string) =>
  new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });

/** The calendar day of an instant in a zone, such as `2024-03-05`. */
export const dayOf = (instant: Date, zone: string): string =>
  instantFormat(zone).format(instant).slice(0, 10);

/** The day that is a number of days after a day. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);

/** The first day of the month that is a number of months after that of a day. */
export const addMonths = (day: string, months: number): string => {
  const [year = 0, month = 0] = day.split("-").map(Number);
  return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10);
};

/**
 * The first instant in a zone at which its clocks show a local time, such as `2024-03-05` or `2024-03-05 09:30`, or a later
 * one. The start of a day need not be midnight: some clocks change then.
 */
export function startOf(local: string, zone: string): Date {
  const { format } = instantFormat(zone);
  const inUtc = utcOf(local);
  // No zone is a day ahead of UTC or behind it.
  let [before, start] = [inUtc - dayMs, inUtc + dayMs];
  while (start - before > 1) {
    const middle = Math.floor((before + start) / 2);
    if (format(middle) < local) before = middle;
    else start = middle;
  }
  return new Date(start);
}

/** A local time as if its zone were UTC, in milliseconds since 1970. */
const utcOf = (local: string): number =>
  Date.parse(`${local.replace(" ", "T")}${local.length === 10 ? "T00:00" : ""}Z`);

/** An interval of a report, whose bounds are exclusive. */
export const createdBetween = (from: Date, to: Date) => ({
  from_date: new Date(from.getTime() - 1).toISOString().replace("Z", "999Z"),
  to_date: to.toISOString(),
});

/** The first and the last day or minute of a period, both included. */
type Bounds = [first: string, last: string];

/** The periods with a name, as days from today. */
export const presets: Record<string, { title: string; of: (today: string) => Bounds }> = {
  today: { title: "Today", of: (today) => [today, today] },
  yesterday: { title: "Yesterday", of: (today) => [addDays(today, -1), addDays(today, -1)] },
  "last-7-days": { title: "Last 7 days", of: (today) => [addDays(today, -6), today] },
  "last-30-days": { title: "Last 30 days", of: (today) => [addDays(today, -29), today] },
  "this-month": { title: "This month", of: (today) => [addMonths(today, 0), endOfMonth(today)] },
  "last-month": {
    title: "Last month",
    of: (today) => [addMonths(today, -1), addDays(addMonths(today, 0), -1)],
  },
  "this-year": { title: "This year", of: (today) => [yearOf(today, 0), addDays(yearOf(today, 1), -1)] },
  "last-year": { title: "Last year", of: (today) => [yearOf(today, -1), addDays(yearOf(today, 0), -1)] },
};

const endOfMonth = (day: string) => addDays(addMonths(day, 1), -1);
const yearOf = (day: string, years: number) => `${Number(day.slice(0, 4)) + years}-01-01`;

/** A period, and the one before it with which it is compared. `to` is exclusive. */
export interface Period {
  bounds: Bounds;
  from: Date;
  to: Date;
  before: { from: Date; to: Date };
}

/**
 * A day, perhaps with a time of day to the minute. Of these years, the period before has four digits of the year, too, which
 * dates are compared by.
 */
const local = /^(19|20|21)\d\d-\d\d-\d\d(T\d\d:\d\d)?$/;

/** Writes a period between two days or minutes as a text of the address. */
export const periodText = (bounds: string[]): string =>
  bounds.map((bound) => bound.replace(" ", "T")).join("..");

/** The bounds of a period from its name or text; undefined if the text is neither. */
export function boundsOf(text: string, today: string): Bounds | undefined {
  const preset = Object.hasOwn(presets, text) ? presets[text] : undefined;
  if (preset) return preset.of(today);
  const bounds = text.split("..");
  const [first = "", last = ""] = bounds;
  const isKnown = bounds.length === 2 && bounds.every((one) => local.test(one) && isInCalendar(one));
  return isKnown && first <= last ? [first.replace("T", " "), last.replace("T", " ")] : undefined;
}

const isInCalendar = (text: string) => {
  const at = utcOf(text);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text.slice(0, 10));
};

/**
 * A period in a zone. What is before it is as long, or as many months if it is whole months. Of a period that is not over,
 * it is as long as the period is old.
 */
export function periodOf(bounds: Bounds, zone: string, now: Date): Period {
  const [first, last] = bounds;
  const [from, to] = [startOf(first, zone), startOf(after(last), zone)];
  const fromBefore = startBefore(bounds, zone, to.getTime() - from.getTime());
  const elapsed =
    now < to && now > from ? fromBefore.getTime() + (now.getTime() - from.getTime()) : from.getTime();
  return { bounds, from, to, before: { from: fromBefore, to: new Date(Math.min(elapsed, from.getTime())) } };
}

/** The bound after a last day or minute. */
function after(last: string): string {
  if (last.length === 10) return addDays(last, 1);
  return new Date(utcOf(last) + 60_000).toISOString().slice(0, 16).replace("T", " ");
}

function startBefore([first, last]: Bounds, zone: string, lengthMs: number): Date {
  if (first.length > 10 || last.length > 10) return new Date(startOf(first, zone).getTime() - lengthMs);
  const next = addDays(last, 1);
  if (!first.endsWith("-01") || !next.endsWith("-01"))
    return startOf(addDays(first, (utcOf(first) - utcOf(next)) / dayMs), zone);
  const monthOf = (day: string) => 12 * Number(day.slice(0, 4)) + Number(day.slice(5, 7));
  return startOf(addMonths(first, monthOf(first) - monthOf(next)), zone);
}
