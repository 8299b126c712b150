import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Step } from "../../../testing/messages.ts";
import type { Details, EventRow, ResourceType } from "../tables/event.ts";
import type { TransactionState } from "../tables/transaction.ts";
import { events, family, shuffled } from "./events.fixture.ts";
import { stateEventTypes } from "./states.ts";
import { projectTransactions } from "./transaction.ts";

const payment = (...told: Step[]) => events("payment", "pay", ...told);
const child = (type: ResourceType, ...told: Step[]) =>
  events(type, "child", ...told).map((event) => ({ ...event, parent_resource_external_id: "pay" }));
const project = (all: EventRow[], id = "pay") =>
  projectTransactions(all).find(({ external_id }) => external_id === id);

describe("events fold into a transaction", () => {
  test.each<[string, Step[], object]>([
    [
      "the newest value of a member wins, the newest salient event decides the state",
      [
        ["10:00", "PAYMENT_CREATED", { amount: 100, email: "a" }],
        ["10:05", "PAYMENT_DETAILS_ENTERED", { email: "b" }],
      ],
      { state: "CREATED", email: "b", event_count: 2, created_date: "2024-03-05T10:00:00.000000Z" },
    ],
    [
      "an older event that comes late changes nothing newer",
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
      "without a salient event there is no state",
      [["10:05", "PAYMENT_DETAILS_ENTERED"]],
      { state: "UNDEFINED" },
    ],
    [
      "a later salient event wins even over a finished state",
      [
        ["10:00", "AUTHORISATION_REJECTED"],
        ["10:09", "CAPTURE_CONFIRMED_BY_GATEWAY_NOTIFICATION"],
      ],
      { state: "SUCCESS" },
    ],
    [
      "nested members are replaced whole",
      [
        ["10:00", "A", { external_metadata: { a: 1, b: 2 } }],
        ["10:01", "B", { external_metadata: { a: 3 } }],
      ],
      { details: { external_metadata: { a: 3 } } },
    ],
    ["live is looked for in the details too", [["10:00", "A", { live: true }]], { live: true }],
    [
      "live and service are the newest that were told",
      [
        ["10:00", "A", {}, { live: true, service_id: "one" }],
        ["10:01", "B", {}, { live: false, service_id: "" }],
      ],
      { live: false, service_id: "one" },
    ],
    [
      "an empty parent is none",
      [
        ["10:00", "A", {}, { parent_resource_external_id: "one" }],
        ["10:01", "B", {}, { parent_resource_external_id: "" }],
      ],
      { parent_external_id: "one" },
    ],
    [
      "numbers become text where text is meant",
      [["10:00", "A", { gateway_account_id: 57 }]],
      { gateway_account_id: "57" },
    ],
    [
      "of two events at the same time the one later in a payment's life is newer",
      [
        ["10:00", "CAPTURE_CONFIRMED"],
        ["10:00", "PAYMENT_CREATED"],
      ],
      { state: "SUCCESS" },
    ],
    [
      "and one that sets no state is older than one that does",
      [
        ["10:00", "PAYMENT_DETAILS_ENTERED", { email: "older" }],
        ["10:00", "PAYMENT_CREATED", { email: "newer" }],
      ],
      { email: "newer" },
    ],
    [
      "metadata is searched by its values, as text in lower case, each once",
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
      "no metadata is none to be searched",
      [["10:00", "A", { external_metadata: {} }]],
      { metadata_values: null },
    ],
    [
      "a member called __proto__ is a member like others",
      [["10:00", "A", JSON.parse('{"__proto__":{"email":"x"}}')]],
      { email: null },
    ],
  ])("%s", (_name, told, row) => {
    expect(project(payment(...told))).toMatchObject(row);
    expect(project(payment(...told.toReversed()))).toMatchObject(row);
  });

  const eventTypes: Record<TransactionState, string[]> = {
    UNDEFINED: [
      "PAYMENT_DETAILS_ENTERED",
      "payment_created",
      "SOMETHING_UNKNOWN",
      "constructor",
      "PAYOUT_PAID",
    ],
    CREATED: ["PAYMENT_CREATED"],
    STARTED: ["PAYMENT_STARTED", "GATEWAY_REQUIRES_3DS_AUTHORISATION"],
    SUBMITTED: [
      "AUTHORISATION_SUCCEEDED",
      "REFUND_CREATED_BY_SERVICE",
      "REFUND_CREATED_BY_USER",
      "REFUND_SUBMITTED",
    ],
    CAPTURABLE: ["USER_APPROVED_FOR_CAPTURE_AWAITING_SERVICE_APPROVAL"],
    SUCCESS: [
      "USER_APPROVED_FOR_CAPTURE",
      "SERVICE_APPROVED_FOR_CAPTURE",
      "QUEUED_FOR_CAPTURE",
      "CAPTURE_SUBMITTED",
      "CAPTURE_CONFIRMED",
      "CAPTURE_CONFIRMED_BY_GATEWAY_NOTIFICATION",
      "STATUS_CORRECTED_TO_CAPTURED_TO_MATCH_GATEWAY_STATUS",
      "PAYMENT_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN",
      "REFUND_SUCCEEDED",
      "REFUND_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN",
    ],
    FAILED_REJECTED: [
      "AUTHORISATION_REJECTED",
      "AUTHORISATION_CANCELLED",
      "STATUS_CORRECTED_TO_AUTHORISATION_REJECTED_TO_MATCH_GATEWAY_STATUS",
    ],
    FAILED_EXPIRED: [
      "PAYMENT_EXPIRED",
      "CANCEL_BY_EXPIRATION_SUBMITTED",
      "CANCEL_BY_EXPIRATION_FAILED",
      "CANCELLED_BY_EXPIRATION",
    ],
    FAILED_CANCELLED: ["CANCEL_BY_USER_SUBMITTED", "CANCEL_BY_USER_FAILED", "CANCELLED_BY_USER"],
    CANCELLED: [
      "CANCEL_BY_EXTERNAL_SERVICE_SUBMITTED",
      "CANCEL_BY_EXTERNAL_SERVICE_FAILED",
      "CANCELLED_BY_EXTERNAL_SERVICE",
    ],
    ERROR: [
      "PAYMENT_STATUS_CORRECTED_TO_ERROR_BY_ADMIN",
      "REFUND_ERROR",
      "REFUND_STATUS_CORRECTED_TO_ERROR_BY_ADMIN",
    ],
    ERROR_GATEWAY: [
      "GATEWAY_ERROR_DURING_AUTHORISATION",
      "GATEWAY_TIMEOUT_DURING_AUTHORISATION",
      "UNEXPECTED_GATEWAY_ERROR_DURING_AUTHORISATION",
      "STATUS_CORRECTED_TO_AUTHORISATION_ERROR_TO_MATCH_GATEWAY_STATUS",
      "CAPTURE_ERRORED",
      "CAPTURE_ABANDONED_AFTER_TOO_MANY_RETRIES",
    ],
    NEEDS_RESPONSE: ["DISPUTE_CREATED"],
    UNDER_REVIEW: ["DISPUTE_EVIDENCE_SUBMITTED"],
    LOST: ["DISPUTE_LOST"],
    WON: ["DISPUTE_WON"],
  };
  test.each(Object.entries(eventTypes))("%s is where these leave it: %s", (state, left) => {
    expect(left.map((eventType) => project(payment(["10:00", eventType]))?.state)).toEqual(
      left.map(() => state),
    );
  });

  test("and no other event type sets a state", () => {
    const salient = Object.entries(eventTypes).flatMap(([state, left]) =>
      state === "UNDEFINED" ? [] : left,
    );
    expect(stateEventTypes.filter((type) => !type.startsWith("PAYOUT_")).toSorted()).toEqual(
      salient.toSorted(),
    );
  });
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
    "shows its payment's details and keeps its own money: %s",
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

  test("stands by itself while its payment is not known", () => {
    expect(
      project(child("refund", ["11:00", "REFUND_SUBMITTED", { reference: "own" }]), "child"),
    ).toMatchObject({
      state: "SUBMITTED",
      reference: "own",
      parent_external_id: "pay",
    });
  });

  test("is what takes from its parent; a payment does not", () => {
    const [own] = payment(["11:00", "X", { reference: "own" }]);
    const child = { ...(own as EventRow), resource_external_id: "child", parent_resource_external_id: "pay" };
    expect(project([child, ...paid], "child")).toMatchObject({ reference: "own", parent_external_id: "pay" });
  });

  test("takes nothing from a payment that has nothing, not even its own", () => {
    const own = child("refund", ["11:00", "X", { gateway_account_id: "57", reference: "own" }]);
    const bare = payment(["10:00", "PAYMENT_CREATED", { gateway_account_id: "57" }]);
    expect(project([...own, ...bare], "child")?.reference).toBeNull();
  });

  test.each<[string, Details, Details]>([
    ["of another account", { gateway_account_id: "57" }, { gateway_account_id: "58" }],
    ["while its own account is not known", {}, { gateway_account_id: "57" }],
    ["whose account is not known", { gateway_account_id: "57" }, {}],
    ["when no account is known at all", {}, {}],
  ])("takes nothing from a payment %s", (_title, childs, payments) => {
    const own = child("refund", ["11:00", "X", { ...childs, reference: "own" }]);
    const other = payment(["10:00", "PAYMENT_CREATED", { ...payments, reference: "other", wallet: "W" }]);
    const row = project([...own, ...other], "child");
    expect(row).toMatchObject({ reference: "own", parent_external_id: "pay" });
    expect(row?.payment_details).toEqual({ reference: "own" });
  });
});

describe("whatever the events", () => {
  const byId = (all: EventRow[]) =>
    projectTransactions(all).toSorted((a, b) => (a.external_id < b.external_id ? -1 : 1));
  const ofTransactions = family.map((all) => all.filter(({ resource_type }) => resource_type !== "payout"));

  test("the same events give the same rows in any order", () => {
    const twice = ofTransactions.chain((all) => fc.tuple(fc.constant(all), shuffled(all)));
    fc.assert(
      fc.property(twice, ([all, again]) => {
        expect(byId(again)).toEqual(byId(all));
      }),
    );
  });

  test("a member's value is never older than the newest event that has it", () => {
    fc.assert(
      fc.property(ofTransactions, (all) => {
        for (const row of projectTransactions(all)) {
          for (const [name, value] of Object.entries(row.details)) {
            const telling = all.filter(
              (event) =>
                event.resource_external_id === row.external_id && Object.hasOwn(event.event_details, name),
            );
            const newest = telling
              .map(({ timestamp }) => timestamp)
              .sort()
              .at(-1);
            const candidates = telling.filter(({ timestamp }) => timestamp === newest);
            expect(
              candidates.map(({ event_details }) => event_details[name as keyof Details]),
            ).toContainEqual(value);
          }
        }
      }),
    );
  });

  test("an older event that comes late takes nothing back", () => {
    const oldest = { timestamp: "2024-03-05T09:00:00.000000Z", id: 99n };
    const late = fc.tuple(ofTransactions, family).map(([all, [old]]) => ({ all, old }));
    fc.assert(
      fc.property(late, ({ all, old }) => {
        fc.pre(old !== undefined && old.resource_type !== "payout");
        const before = new Map(byId(all).map((row) => [row.external_id, row]));
        for (const row of byId([...all, { ...(old as EventRow), ...oldest }])) {
          const was = before.get(row.external_id);
          if (was === undefined) continue;
          expect(row.details).toMatchObject(was.details);
          if (was.state !== "UNDEFINED") expect(row.state).toBe(was.state);
          if (was.service_id !== null) expect(row.service_id).toBe(was.service_id);
          if (was.parent_external_id !== null) expect(row.parent_external_id).toBe(was.parent_external_id);
        }
      }),
    );
  });

  test("children show what their payment shows when it is of their account, and else what they are told", () => {
    fc.assert(
      fc.property(ofTransactions, (all) => {
        const rows = new Map(byId(all).map((row) => [row.external_id, row]));
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
