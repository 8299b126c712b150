import { describe, expect, test } from "vitest";
import type { Step } from "../../../testing/messages.ts";
import type { ResourceType } from "../tables/event.ts";
import { agreementProjection } from "./agreement.ts";
import { events, project } from "./events.fixture.ts";
import { paymentInstrumentProjection } from "./payment-instrument.ts";

const rowsIn = (projection: typeof agreementProjection, type: ResourceType, steps: Step[]) =>
  [steps, steps.toReversed()].map((some) => project(projection, events(type, "id", ...some)));

describe("events fold into an agreement, in any order", () => {
  test.each<[string, Step[], object]>([
    [
      "details and columns come from the newest event that has them",
      [
        [
          "10:00",
          "AGREEMENT_CREATED",
          { gateway_account_id: 57, reference: "A", user_identifier: "u" },
          { service_id: "svc", live: true },
        ],
        ["11:00", "AGREEMENT_SET_UP", { reference: "B" }],
      ],
      {
        external_id: "id",
        gateway_account_id: "57",
        service_id: "svc",
        live: true,
        state: "ACTIVE",
        created_date: "2024-03-05T10:00:00.000000Z",
        event_count: 2,
        reference: "B",
        cancelled_date: null,
        cancelled_by_user_email: null,
      },
    ],
    ["without an event that sets a state it is undefined", [["10:00", "OTHER"]], { state: "UNDEFINED" }],
    ["an inactivated one is inactive", [["10:00", "AGREEMENT_INACTIVATED"]], { state: "INACTIVE" }],
    [
      "`live` of the details is not that of the agreement",
      [["10:00", "AGREEMENT_CREATED", { live: true }]],
      { live: null },
    ],
    [
      "a user who cancels it is shown, with the time of the newest event",
      [
        ["10:00", "AGREEMENT_CREATED"],
        ["11:00", "AGREEMENT_CANCELLED_BY_USER", { user_email: "a@b.c", cancelled_date: "2024-01-01" }],
        ["12:00", "OTHER"],
      ],
      {
        state: "CANCELLED",
        cancelled_date: "2024-03-05T12:00:00.000000Z",
        cancelled_by_user_email: "a@b.c",
      },
    ],
    [
      "a service that cancels it shows no user",
      [
        ["10:00", "AGREEMENT_CREATED", { user_email: "a@b.c" }],
        ["11:00", "AGREEMENT_CANCELLED_BY_SERVICE"],
      ],
      {
        state: "CANCELLED",
        cancelled_date: "2024-03-05T11:00:00.000000Z",
        cancelled_by_user_email: null,
      },
    ],
    [
      "a later state clears the cancellation",
      [
        ["11:00", "AGREEMENT_CANCELLED_BY_USER", { user_email: "a@b.c" }],
        ["12:00", "AGREEMENT_SET_UP"],
      ],
      { state: "ACTIVE", cancelled_date: null, cancelled_by_user_email: null },
    ],
  ])("%s", (_title, steps, row) => {
    for (const rows of rowsIn(agreementProjection, "agreement", steps))
      expect(rows).toEqual([expect.objectContaining(row)]);
  });
});

describe("events fold into a payment instrument, in any order", () => {
  test.each<[string, Step[], object]>([
    [
      "the agreement comes from the newest event that names one",
      [
        ["10:00", "PAYMENT_INSTRUMENT_CREATED", { card_brand: "visa" }],
        ["11:00", "PAYMENT_INSTRUMENT_CONFIRMED", { agreement_external_id: "one" }],
        ["12:00", "PAYMENT_INSTRUMENT_CONFIRMED", { agreement_external_id: "two" }],
      ],
      { agreement_external_id: "two", created_date: "2024-03-05T10:00:00.000000Z", event_count: 3 },
    ],
    ["a number is an id", [["10:00", "A", { agreement_external_id: 5 }]], { agreement_external_id: "5" }],
    ["an object is none", [["10:00", "A", { agreement_external_id: {} }]], { agreement_external_id: null }],
    [
      "an empty text is none",
      [["10:00", "A", { agreement_external_id: "" }]],
      { agreement_external_id: null },
    ],
    [
      "a text that is too long is none",
      [["10:00", "A", { agreement_external_id: "x".repeat(256) }]],
      { agreement_external_id: null },
    ],
  ])("%s", (_title, steps, row) => {
    for (const rows of rowsIn(paymentInstrumentProjection as never, "payment_instrument", steps))
      expect(rows).toEqual([expect.objectContaining(row)]);
  });
});
