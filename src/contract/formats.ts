import type { Format } from "ajv";
import { isDay, readInstant } from "../values/instant.ts";
import { isTimeZone } from "../values/time-zone.ts";

/** The formats, each with what a text must be, for error messages. */
export const formats: Record<string, Format & { mustBe?: string }> = {
  "date-time": {
    validate: (text: string) => readInstant(text) !== undefined,
    mustBe: "an instant with a UTC offset, such as 2024-03-05T09:14:22Z",
  },
  date: { validate: isDay, mustBe: "a calendar day, such as 2024-03-05" },
  "time-zone": {
    validate: isTimeZone,
    mustBe: "UTC or the name of a time zone with area and location, such as Europe/London",
  },
  uri: { validate: (text: string) => URL.canParse(text), mustBe: "a URI" },
  int32: { type: "number", validate: (value) => value === (value | 0), mustBe: "a 32-bit integer" },
  int64: true,
  // Without it generators for Go make 32-bit numbers.
  double: true,
};
