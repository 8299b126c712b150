/** The time zone in which reports have days: that of the reader, or UTC if it has no name that a ledger accepts. */
export function reportZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return /^[A-Za-z_]+\//.test(timeZone) ? timeZone : "UTC";
}

const dayMs = 86_400_000;

/** Canada writes a day as reports do. */
const dayFormat = (zone: string) => new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" });

/** The calendar day of an instant in a zone, such as `2024-03-05`. */
export const dayOf = (instant: Date, zone: string): string => dayFormat(zone).format(instant);

/** The day that is a number of days after a day. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);

/**
 * The first instant of a day in a zone, or of the next one if the zone has no such day. It need not be midnight: some clocks
 * change then.
 */
export function startOf(day: string, zone: string): Date {
  const { format } = dayFormat(zone);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // No zone is a day ahead of UTC or behind it.
  let [before, start] = [midnight - dayMs, midnight + dayMs];
  while (start - before > 1) {
    const middle = Math.floor((before + start) / 2);
    if (format(middle) < day) before = middle;
    else start = middle;
  }
  return new Date(start);
}

/** An interval of a report, whose bounds are exclusive. */
export const createdBetween = (from: Date, to: Date) => ({
  from_date: new Date(from.getTime() - 1).toISOString().replace("Z", "999Z"),
  to_date: to.toISOString(),
});

/** The days from one to another, both included. */
export function daysBetween(first: string, last: string): string[] {
  const days: string[] = [];
  for (let day = first; day <= last; day = addDays(day, 1)) days.push(day);
  return days;
}
