import { describe, expect, test } from "vitest";
import type { Step } from "../../../testing/messages.ts";
import { events, project } from "./events.fixture.ts";
import { payoutProjection } from "./payout.ts";

const payout = (...steps: Step[]) => events("payout", "po", ...steps);

describe("events fold into a payout", () => {
  test.each<[string, Step[], object]>([
    [
      "a created payout is in transit",
      [["10:00", "PAYOUT_CREATED"]],
      { state: "IN_TRANSIT", paid_out_date: null },
    ],
    [
      "a paid payout has a date",
      [
        ["10:00", "PAYOUT_CREATED", { gateway_account_id: 57, amount: 9 }],
        ["11:00", "PAYOUT_PAID", { paid_out_date: "2024-03-12T00:59:59.5+01:00" }],
      ],
      {
        gateway_payout_id: "po",
        gateway_account_id: "57",
        state: "PAID_OUT",
        paid_out_date: "2024-03-11T23:59:59.500000Z",
        created_date: "2024-03-05T10:00:00.000000Z",
        event_count: 2,
      },
    ],
    ["PAYOUT_FAILED sets the state FAILED", [["10:00", "PAYOUT_FAILED"]], { state: "FAILED" }],
    [
      "a payout without an event that sets a state is undefined",
      [["10:00", "PAYOUT_UPDATED"]],
      { state: "UNDEFINED" },
    ],
    [
      "at the same timestamp, paid is newer than created",
      [
        ["10:00", "PAYOUT_PAID"],
        ["10:00", "PAYOUT_CREATED"],
      ],
      { state: "PAID_OUT" },
    ],
    ["an invalid date is ignored", [["10:00", "PAYOUT_PAID", { paid_out_date: 5 }]], { paid_out_date: null }],
  ])("%s", (_name, steps, row) => {
    expect(project(payoutProjection, payout(...steps))).toEqual([expect.objectContaining(row)]);
    expect(project(payoutProjection, payout(...steps.toReversed()))).toEqual([expect.objectContaining(row)]);
  });
});
