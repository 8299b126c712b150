import { isZone } from "./time-zone.ts";

const dayForm = "(\\d{4}-\\d{2}-\\d{2})";
const timeForm = "([01]\\d|2[0-3]):([0-5]\\d)(?::([0-5]\\d|60)(?:\\.(\\d{1,9}))?)?";
const offsetForm = "(?:Z|([+-])(?:(0\\d|1[0-7])(?::([0-5]\\d))?|(18)(?::00)?))";
const zoneForm = "(?:\\[([A-Za-z][\\w+/-]*)\\])?";
const instant = new RegExp(`^${dayForm}T${timeForm}${offsetForm}${zoneForm}$`, "i");

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
 * with offsets up to 18 hours, and also no seconds, an offset of hours only, and the name of a time zone in brackets, which
 * must exist and is ignored. Further fraction digits are truncated. A leap second, 23:59:60 UTC, is the second after it.
 * Undefined if the text is not an instant in the years 1 to 9999.
 */
export function readInstant(text: string): string | undefined {
  const [
    matched,
    day,
    hour,
    minute,
    second = "00",
    fraction = "",
    sign,
    hours,
    zoneMinutes = "00",
    max,
    zone,
  ] = instant.exec(text) ?? [];
  const zoneHours = hours ?? max;
  if (matched === undefined || day === undefined || !isDay(day)) return undefined;
  if (zone !== undefined && !isZone(zone)) return undefined;
  const digits = fraction.slice(0, 6).padEnd(6, "0");
  const isLeapSecond = second === "60";
  if (sign === undefined && !isLeapSecond) return `${day}T${hour}:${minute}:${second}.${digits}Z`;
  const offsetMinutes = (Number(zoneHours ?? 0) * 60 + Number(zoneMinutes)) * (sign === "-" ? -1 : 1);
  const time = Date.parse(`${day}T${hour}:${minute}:00Z`) - offsetMinutes * 60_000 + Number(second) * 1000;
  if (isLeapSecond && time % dayMs !== 0) return undefined;
  const utc = new Date(time).toISOString();
  if (!/^\d{4}-/.test(utc) || utc.startsWith("0000")) return undefined;
  return `${utc.slice(0, 19)}.${digits}Z`;
}

const dayMs = 86_400_000;

/** The first microsecond that is not before an instant. It differs from `readInstant` if the fraction is finer. */
export function ceilInstant(text: string): string | undefined {
  const read = readInstant(text);
  if (read === undefined || !/\.\d{6}0*[1-9]/.test(text)) return read;
  // The largest text of an instant, since there is no later year.
  return microsecondAfter(read) ?? read;
}

/** The next microsecond after an instant in the form of `readInstant`; undefined after the year 9999. */
export function microsecondAfter(read: string): string | undefined {
  const micros = Number(read.slice(20, 26)) + 1;
  if (micros < 1_000_000) return `${read.slice(0, 20)}${String(micros).padStart(6, "0")}Z`;
  const next = new Date(Date.parse(`${read.slice(0, 19)}Z`) + 1000).toISOString();
  return /^\d{4}-/.test(next) ? `${next.slice(0, 19)}.000000Z` : undefined;
}

/** An instant in milliseconds since 1970 (UTC), truncated. */
export const epochMillisecondsOf = (instantText: string): number =>
  Date.parse(readInstant(instantText) ?? "");
