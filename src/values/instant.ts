const dayForm = "(\\d{4}-\\d{2}-\\d{2})";
const timeForm = "([01]\\d|2[0-3]):([0-5]\\d)(?::([0-5]\\d)(?:\\.(\\d{1,9}))?)?";
const offsetForm = "(?:Z|([+-])([01]\\d|2[0-3])(?::([0-5]\\d))?)";
const zoneForm = "(?:\\[[A-Za-z][\\w+/-]*\\])?";
const instant = new RegExp(`^${dayForm}T${timeForm}${offsetForm}${zoneForm}$`);

const daysOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const isLeap = (year: number) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

/** True if the text is a calendar day from the year 1, in the form `2024-03-05`. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(5, 7));
  const days = month === 2 && isLeap(year) ? 29 : (daysOfMonths[month - 1] ?? 0);
  const day = Number(text.slice(8));
  return year >= 1 && day >= 1 && day <= days;
}

/**
 * Converts an instant to the form that the ledger stores and sorts: UTC with six fraction digits and `Z`. Accepts RFC 3339
 * and also no seconds, an offset of hours only, and the name of a time zone in brackets, which is ignored. Further
 * fraction digits are truncated. Undefined if the text is not an instant in the years 1 to 9999.
 */
export function readInstant(text: string): string | undefined {
  const [matched, day, hour, minute, second = "00", fraction = "", sign, zoneHours, zoneMinutes = "00"] =
    instant.exec(text) ?? [];
  if (matched === undefined || day === undefined || !isDay(day)) return undefined;
  const digits = fraction.slice(0, 6).padEnd(6, "0");
  if (sign === undefined) return `${day}T${hour}:${minute}:${second}.${digits}Z`;
  const offsetMinutes = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === "+" ? 1 : -1);
  const time = Date.parse(`${day}T${hour}:${minute}:${second}Z`) - offsetMinutes * 60_000;
  const utc = new Date(time).toISOString();
  if (!/^\d{4}-/.test(utc) || utc.startsWith("0000")) return undefined;
  return `${utc.slice(0, 19)}.${digits}Z`;
}

/** Milliseconds since 1970 (UTC) of an instant, truncated. */
export const millisecondsOf = (instantText: string): number => Date.parse(readInstant(instantText) ?? "");
