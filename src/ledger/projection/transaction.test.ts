import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Step } from "../../../testing/messages.ts";
import { type Details, type EventRow, type ResourceType, transactionTypes } from "../tables/event.ts";
import { events, relatedEvents } from "./events.fixture.ts";
import { projectTransactions } from "./transaction.ts";

const payment = (...steps: Step[]) => events("payment", "pay", ...steps);
const child = (type: ResourceType, ...steps: Step[]) =>
  events(type, "child", ...steps).map((event) => ({ ...event, parent_resource_external_id: "pay" }));
const project = (all: EventRow[], id = "pay") =>
  projectTransactions(all).find(({ external_id }) => external_id === id);

describe("events fold into a transaction", () => {
  test.each<[string, Step[], object]>([
    [
      "a member has its newest value, and the newest event that sets a state decides",
      [
        ["10:00", "PAYMENT_CREATED", { amount: 100, email: "a" }],
        ["10:05", "PAYMENT_DETAILS_ENTERED", { email: "b" }],
      ],
      { state: "CREATED", email: "b", event_count: 2, created_date: "2024-03-05T10:00:00.000000Z" },
    ],
    [
      "a late event changes no newer value",
      [
        ["10:05", "AUTHORISATION_SUCCEEDED", { email: "new" }],
        ["10:01", "PAYMENT_STARTED", { email: "old", language: "cy" }],
      ],
      {
        state: "SUBMITTED",
        email: "new",
        details: { email: "new", language: "cy" },
        created_date: "2024-03-05T10:01:00.000000Z",
      },
    ],
    [
      "without an event that sets a state, the state is undefined",
      [["10:05", "PAYMENT_DETAILS_ENTERED"]],
      { state: "UNDEFINED" },
    ],
    [
      "a later event changes even a final state",
      [
        ["10:00", "AUTHORISATION_REJECTED"],
        ["10:09", "CAPTURE_CONFIRMED_BY_GATEWAY_NOTIFICATION"],
      ],
      { state: "SUCCESS" },
    ],
    [
      "nested members are replaced, not merged",
      [
        ["10:00", "A", { external_metadata: { a: 1, b: 2 } }],
        ["10:01", "B", { external_metadata: { a: 3 } }],
      ],
      { details: { external_metadata: { a: 3 } } },
    ],
    ["live can come from the details", [["10:00", "A", { live: true }]], { live: true }],
    [
      "live and service have the newest value that is not empty",
      [
        ["10:00", "A", {}, { live: true, service_id: "one" }],
        ["10:01", "B", {}, { live: false, service_id: "" }],
      ],
      { live: false, service_id: "one" },
    ],
    [
      "an empty parent is ignored",
      [
        ["10:00", "A", {}, { parent_resource_external_id: "one" }],
        ["10:01", "B", {}, { parent_resource_external_id: "" }],
      ],
      { parent_external_id: "one" },
    ],
    [
      "numbers become text in text columns",
      [["10:00", "A", { gateway_account_id: 57 }]],
      { gateway_account_id: "57" },
    ],
    [
      "at the same timestamp, the event later in the life cycle is newer",
      [
        ["10:00", "CAPTURE_CONFIRMED"],
        ["10:00", "PAYMENT_CREATED"],
      ],
      { state: "SUCCESS" },
    ],
    [
      "at the same timestamp, an event that sets no state is older than one that does",
      [
        ["10:00", "PAYMENT_DETAILS_ENTERED", { email: "older" }],
        ["10:00", "PAYMENT_CREATED", { email: "newer" }],
      ],
      { email: "newer" },
    ],
    [
      "metadata values for searches are text in lower case, without duplicates and long values",
      [
        [
          "10:00",
          "A",
          {
            external_metadata: {
              a: "North",
              b: 2,
              c: true,
              d: "north",
              e: { f: 1 },
              g: "x".repeat(256),
              h: "y".repeat(255),
            },
          },
        ],
      ],
      { metadata_values: ["2", "north", "true", "y".repeat(255)] },
    ],
    [
      "without metadata there are no values for searches",
      [["10:00", "A", { external_metadata: {} }]],
      { metadata_values: null },
    ],
    [
      "a member named __proto__ is an ordinary member",
      [["10:00", "A", JSON.parse('{"__proto__":{"email":"x"}}')]],
      { email: null },
    ],
  ])("%s", (_name, steps, row) => {
    expect(project(payment(...steps))).toMatchObject(row);
    expect(project(payment(...steps.toReversed()))).toMatchObject(row);
  });

  // The contract has the state that each event type sets; `oracle.test.ts` compares them.
  test.each(["payment_created", "constructor", "PAYOUT_PAID"])(
    "%s sets no state of a payment",
    (eventType) => {
      expect(project(payment(["10:00", eventType]))?.state).toBe("UNDEFINED");
    },
  );
});

describe("a refund or dispute", () => {
  const paid = payment(
    ["10:00", "PAYMENT_CREATED", { gateway_account_id: 57, reference: "LIC-88", amount: 100, fee: 5 }],
    [
      "10:05",
      "PAYMENT_DETAILS_ENTERED",
      { cardholder_name: "A", card_brand_label: "Visa", wallet: "APPLE_PAY" },
    ],
  );

  test.each(["refund", "dispute"] as const)(
    "shows the details of its payment and its own amounts: %s",
    (type) => {
      const own = child(type, ["11:00", "X", { gateway_account_id: "57", amount: 50, reference: "own" }]);
      expect(project([...own, ...paid], "child")).toMatchObject({
        transaction_type: type.toUpperCase(),
        parent_external_id: "pay",
        reference: "LIC-88",
        cardholder_name: "A",
        details: { amount: 50 },
        payment_details: { reference: "LIC-88", card_brand_label: "Visa", wallet: "APPLE_PAY" },
      });
    },
  );

  const own = ["11:00", "REFUND_SUBMITTED", { gateway_account_id: "57", reference: "own" }] as Step;
  test.each<[string, EventRow[], object]>([
    [
      "its own details while its payment is unknown",
      child("refund", own),
      { reference: "own", state: "SUBMITTED" },
    ],
    [
      "no details of its own if its payment has none",
      [...child("refund", own), ...payment(["10:00", "PAYMENT_CREATED", { gateway_account_id: "57" }])],
      { reference: null },
    ],
    [
      "its own details if it is a payment with a parent",
      [...child("payment", own), ...paid],
      { reference: "own" },
    ],
  ])("shows %s", (_title, all, row) => {
    expect(project(all, "child")).toMatchObject({ parent_external_id: "pay", ...row });
  });

  test.each<[string, Details, Details]>([
    ["belongs to another account", { gateway_account_id: "57" }, { gateway_account_id: "58" }],
    ["has an account and the child has none", {}, { gateway_account_id: "57" }],
    ["has no account", { gateway_account_id: "57" }, {}],
    ["and the child have no account", {}, {}],
  ])("shows no details of a payment if that %s", (_title, ofChild, ofPayment) => {
    const own = child("refund", ["11:00", "X", { ...ofChild, reference: "own" }]);
    const other = payment(["10:00", "PAYMENT_CREATED", { ...ofPayment, reference: "other", wallet: "W" }]);
    const row = project([...own, ...other], "child");
    expect(row).toMatchObject({ reference: "own", parent_external_id: "pay" });
    expect(row?.payment_details).toEqual({ reference: "own" });
  });
});

// That they do not depend on the order of arrival is in `ingest.test.ts`.
describe("for any events", () => {
  const ofTransactions = relatedEvents.map((all) =>
    all.filter(({ resource_type }) => transactionTypes.includes(resource_type)),
  );

  test("the value of a member comes from the newest event that has the member", () => {
    fc.assert(
      fc.property(ofTransactions, (all) => {
        for (const row of projectTransactions(all)) {
          for (const [name, value] of Object.entries(row.details)) {
            const withMember = all.filter(
              (event) =>
                event.resource_external_id === row.external_id && Object.hasOwn(event.event_details, name),
            );
            const [newest] = withMember
              .map(({ timestamp }) => timestamp)
              .sort()
              .reverse();
            const candidates = withMember.filter(({ timestamp }) => timestamp === newest);
            expect(
              candidates.map(({ event_details }) => event_details[name as keyof Details]),
            ).toContainEqual(value);
          }
        }
      }),
    );
  });

  test("children show the details of their payment if it has the same account, otherwise their own", () => {
    fc.assert(
      fc.property(ofTransactions, (all) => {
        const rows = new Map(projectTransactions(all).map((row) => [row.external_id, row]));
        const payment = rows.get("pay");
        for (const row of rows.values()) {
          if (payment === undefined || row.parent_external_id !== "pay" || row === payment) continue;
          const isOfAccount =
            row.gateway_account_id !== null && row.gateway_account_id === payment.gateway_account_id;
          const shown = isOfAccount ? payment.details : row.details;
          for (const name of ["reference", "email", "cardholder_name", "card_brand"] as const) {
            expect(row[name]).toBe(Object.hasOwn(shown, name) ? String(shown[name]) : null);
          }
          expect(row.payment_details?.wallet).toBe(shown.wallet);
        }
      }),
    );
  });
});
