/** Reports have days in UTC or, for readers there, in London. */
export type ReportZone = "UTC" | "Europe/London";

export const reportZone = (): ReportZone =>
  Intl.DateTimeFormat().resolvedOptions().timeZone === "Europe/London" ? "Europe/London" : "UTC";

const dayMs = 86_400_000;

/** The calendar day of an instant in a zone, such as `2024-03-05`. */
export function dayOf(instant: Date, zone: ReportZone): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" }).format(instant);
}

/** The day that is a number of days after a day. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);

/** The first instant of a day in a zone. London changes its clocks at 01:00 UTC, never between 23:00 and midnight. */
export function startOf(day: string, zone: ReportZone): Date {
  const midnight = new Date(`${day}T00:00:00Z`);
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    timeZoneName: "longOffset",
  }).formatToParts(new Date(midnight.getTime() - (zone === "UTC" ? 0 : 3_600_000)));
  const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
  const [, hours = "0"] = /GMT[+](\d\d)/.exec(name) ?? [];
  return new Date(midnight.getTime() - Number(hours) * 3_600_000);
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
