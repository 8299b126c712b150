import { describe, expect, test } from "vitest";
import { expected } from "../../../examples/expected.ts";
import { differencesOf } from "./shown.ts";

/** The output of a program that got what is expected, with these steps in place of those. */
function outputWith(steps: Record<string, unknown> = {}): string {
  const withIds = {
    added: [202, { events: [{ is_new: true, event_id: 2 }] }],
    again: { events: [{ is_new: false, event_id: 2 }] },
  };
  const shown = Object.entries({ ...expected, ...withIds, ...steps });
  return shown.map(([step, value]) => `${step} ${JSON.stringify(value)}\n`).join("");
}

test("a program that got everything, and more, has no differences", () => {
  expect(differencesOf(outputWith({ flag: { ...expected.flag, key: "bee" } }), [])).toEqual([]);
  const [added, removed] = expected.records;
  const records = [{ ...added, expires_at: "2037-03-05T09:14:22.018000+00:00" }, removed];
  expect(differencesOf(outputWith({ records }), [])).toEqual([]);
  const [status, line] = expected.late;
  const problem = JSON.stringify({ status, detail: line.trim() });
  expect(differencesOf(outputWith({ late: [status, problem] }), [])).toEqual([]);
});

describe("a program differs if it", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["leaves out a step", { flag: undefined }, "flag is undefined, not"],
    ["got another value", { removed: 200 }, "removed is 200, not 204"],
    ["got another error", { late: [400, '{"detail":"too late"}'] }, "late is"],
    ["got another member", { flag: { value: false, reason: "TARGETING_MATCH" } }, "flag is"],
    ["got no member", { missing: { status: 404 } }, "missing is"],
    [
      "got a value where there is none",
      { records: [expected.records[0], expected.records[0]] },
      "records is",
    ],
    ["got a longer list", { listed: [...expected.listed, "more"] }, "listed is"],
    ["got another id again", { again: { events: [{ is_new: false, event_id: 3 }] } }, "the event 3 is not 2"],
  ])("%s", (_, steps, difference) => {
    expect(differencesOf(outputWith(steps), [])).toEqual([expect.stringContaining(difference)]);
  });
});
