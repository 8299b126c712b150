import { type Currency, pounds, toMajorUnits } from "../values/currency.ts";

/** An amount in minor units, in the unit of the currency and with its sign. Exact for every integer. */
export const formatMoney = (amount: number | bigint): string =>
  formatMajorUnits(toMajorUnits(amount, currency) as `${number}`);

let currency: Currency = pounds;
let formatMajorUnits = moneyFormat();

/** The currency of all amounts that the console shows. The page names it. Default: pounds. */
export function showCurrency(shown: Currency): void {
  currency = shown;
  formatMajorUnits = moneyFormat();
}

function moneyFormat() {
  const { code, digits } = currency;
  return numberFormat({
    style: "currency",
    currency: code,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** A share between 0 and 1 as a percentage. */
export const formatShare = numberFormat({ style: "percent", maximumFractionDigits: 1 });

/** A difference with its sign, also if it is positive. */
export const formatDifference = numberFormat({ maximumFractionDigits: 1, signDisplay: "exceptZero" });

export const formatCount = (count: number | bigint): string => count.toLocaleString();

/** A duration in milliseconds, in the largest unit that has at least one of it. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  if (milliseconds < 3_600_000) return `${Math.round(milliseconds / 60_000)} min`;
  return `${Math.round(milliseconds / 3_600_000)} h`;
}

/** Whether days can begin in a time zone: UTC, or one that is named by area and location. */
export const isReportZone = (name: string): boolean => name === "UTC" || /^[A-Za-z_]+\//.test(name);

/** The time zone of the reader, or UTC if days cannot begin in it. */
export const ownZone = (): string => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return isReportZone(timeZone) ? timeZone : "UTC";
};

let zone = ownZone();

/** The time zone of all instants that the console shows. Default: that of the reader. */
export function showTimesIn(shown: string): void {
  zone = shown;
}

const dateAndTime = dateFormat({ dateStyle: "medium", timeStyle: "medium" });
const minuteFormat = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" } as const;
const recentMinute = dateFormat(minuteFormat);
const minuteOfYear = dateFormat({ year: "numeric", ...minuteFormat });
const dateOnly = dateFormat({ dateStyle: "medium", timeZone: "UTC" });
const dayAndMonth = dateFormat({ day: "numeric", month: "short", timeZone: "UTC" });
const monthAndYear = dateFormat({ month: "short", year: "numeric", timeZone: "UTC" });

/** An instant in the shown time zone. A text that is none, as of an address, stays as it is. */
export const formatInstant = (instant: string): string =>
  Number.isNaN(Date.parse(instant)) ? instant : dateAndTime(new Date(instant));

/** The same without seconds, and without the year if it is this one. */
export const formatMinute = (instant: string): string =>
  (instant.startsWith(String(new Date().getUTCFullYear())) ? recentMinute : minuteOfYear)(new Date(instant));

/** An instant in UTC, with all its digits. */
export const formatUtc = (instant: string): string => instant.replace("T", " ").replace(/Z$/, " UTC");

/** A calendar day, which is the same day in every time zone. */
export const formatDay = (day: string): string => dateOnly(new Date(`${day}T00:00:00Z`));

/** A calendar day of this or the last year, without the year. */
export const formatRecentDay = (day: string): string => dayAndMonth(new Date(`${day}T00:00:00Z`));

/** A calendar month, from its first day. */
export const formatMonth = (day: string): string => monthAndYear(new Date(`${day}T00:00:00Z`));

/** The time of day of an instant, in milliseconds since 1970, in the shown time zone. */
export const formatClock = dateFormat({ timeStyle: "short" });

/** A name of the contract as words: `needs_response` becomes `Needs response`. */
export function formatName(name: string): string {
  const words = name.replaceAll("_", " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A value as indented JSON. Integers beyond the safe range keep their digits. */
export const formatJson = (value: unknown): string =>
  JSON.stringify(value, (_key, member) => (typeof member === "bigint" ? exactNumber(member) : member), 2);

/** Browsers before 2025 have no raw JSON. */
const exactNumber = (value: bigint): unknown =>
  Number.isSafeInteger(Number(value)) ? Number(value) : (JSON.rawJSON?.(String(value)) ?? String(value));

/** Formatters are slow to make, so each is made at its first use. */
function numberFormat(options: Intl.NumberFormatOptions) {
  let made: Intl.NumberFormat | undefined;
  return (value: number | Intl.StringNumericLiteral): string => {
    made ??= new Intl.NumberFormat(undefined, options);
    return made.format(value);
  };
}

function dateFormat(options: Intl.DateTimeFormatOptions) {
  const made = new Map<string, Intl.DateTimeFormat>();
  return (at: Date | number): string => {
    const { timeZone = zone } = options;
    const format = made.get(timeZone) ?? new Intl.DateTimeFormat(undefined, { ...options, timeZone });
    made.set(timeZone, format);
    return format.format(at);
  };
}

declare global {
  interface JSON {
    rawJSON?(text: string): unknown;
  }
}
