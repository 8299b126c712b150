import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Step } from "../../../testing/messages.ts";
import { events, family, shuffled } from "./events.fixture.ts";
import { projectPayouts } from "./payout.ts";

const payout = (...told: Step[]) => events("payout", "po", ...told);

describe("events fold into a payout", () => {
  test.each<[string, Step[], object]>([
    ["created it is in transit", [["10:00", "PAYOUT_CREATED"]], { state: "IN_TRANSIT", paid_out_date: null }],
    [
      "paid it has a date",
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
    ["failed it is that", [["10:00", "PAYOUT_FAILED"]], { state: "FAILED" }],
    ["an event that sets no state leaves none", [["10:00", "PAYOUT_UPDATED"]], { state: "UNDEFINED" }],
    [
      "at the same time paid is later than created",
      [
        ["10:00", "PAYOUT_PAID"],
        ["10:00", "PAYOUT_CREATED"],
      ],
      { state: "PAID_OUT" },
    ],
    [
      "a date that is none counts as absent",
      [["10:00", "PAYOUT_PAID", { paid_out_date: 5 }]],
      { paid_out_date: null },
    ],
  ])("%s", (_name, told, row) => {
    expect(projectPayouts(payout(...told))).toEqual([expect.objectContaining(row)]);
    expect(projectPayouts(payout(...told.toReversed()))).toEqual([expect.objectContaining(row)]);
  });

  test("in any order into the same", () => {
    const ofPayouts = family.map((all) => all.filter(({ resource_type }) => resource_type === "payout"));
    const twice = ofPayouts.chain((all) => fc.tuple(fc.constant(all), shuffled(all)));
    fc.assert(
      fc.property(twice, ([all, again]) => {
        expect(projectPayouts(again)).toEqual(projectPayouts(all));
      }),
    );
  });
});
