import { expect, test } from "vitest";
import { isTimeZone } from "./time-zone.ts";

test.each([
  "UTC",
  "utc",
  "Europe/London",
  "america/argentina/buenos_aires",
  "Etc/GMT+5",
  "America/Port-au-Prince",
])("%s is a time zone", (name) => expect(isTimeZone(name)).toBe(true));

// PostgreSQL reads most of these, many of them in another way than Node.js.
test.each([
  ...[
    "",
    "+05:30",
    "UTC+3",
    "GMT",
    "CET",
    "BST",
    "EST5EDT",
    "EST5EDT4",
    "Japan",
    "Europe",
    "Europe/",
    "/London",
  ],
  ...[
    "Europe/Nowhere",
    "posix/Europe/London",
    "SystemV/EST5EDT",
    "systemv/pst8",
    "Europe/London ",
    "Europe/../London",
  ],
])("%j is no time zone", (name) => expect(isTimeZone(name)).toBe(false));
