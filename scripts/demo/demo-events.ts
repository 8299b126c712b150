import { type Details, type EventMessage, messagesAbout, type Step } from "../../testing/event-messages.ts";

/** The transactions of the demonstration, with their final status. */
export const demoTransactions = [
  { id: "demo-success", status: "success" },
  { id: "demo-refund", status: "success" },
  { id: "demo-rejected", status: "declined" },
  { id: "demo-expired", status: "timedout" },
  { id: "demo-disputed", status: "success" },
  { id: "demo-dispute", status: "needs_response" },
];

const account = { gateway_account_id: "demo" };
const service = { service_id: "demo-service", live: true };
const card = {
  email: "angler@example.org",
  cardholder_name: "A. Angler",
  card_type: "DEBIT",
  card_brand: "visa",
  card_brand_label: "Visa",
  first_digits_card_number: "424242",
  last_digits_card_number: "4242",
  expiry_date: "11/29",
};
const ticket = { reference: "parking-season", description: "Season ticket", user_identifier: "angler-7" };
const ofAgreement = { agreement_id: "demo-agreement" };
const byAgreement = { ...ofAgreement, authorisation_mode: "agreement" } as const;
const fishing = { amount: 4250, reference: "fishing-88", description: "Fishing licence" };
const metadata = { external_metadata: { branch: "North", copies: 2 } };
const parking = (number: number, amount: number) => ({
  amount,
  reference: `parking-${number}`,
  description: "Parking",
});
const captured = { captured_date: "2024-03-05T10:00:00.000000Z", fee: 60, net_amount: 4190 };
const refundable = {
  refund_status: "available",
  refund_amount_available: 3250,
  refund_amount_refunded: 1000,
};
const unrecognised = { reason: "unrecognized", evidence_due_date: "2024-03-22T22:59:59.000000Z" };

const agreement = { resource_type: "agreement", resource_external_id: "demo-agreement", ...service } as const;
const instrument = {
  resource_type: "payment_instrument",
  resource_external_id: "demo-card",
  ...service,
} as const;
const refund = {
  resource_type: "refund",
  resource_external_id: "demo-refund",
  parent_resource_external_id: "demo-success",
  ...service,
} as const;
const dispute = {
  resource_type: "dispute",
  resource_external_id: "demo-dispute",
  parent_resource_external_id: "demo-disputed",
  ...service,
} as const;
const payout = { resource_type: "payout", resource_external_id: "demo-payout", ...service } as const;

const created = { ...account, payment_provider: "sandbox", language: "en", source: "CARD_API" } as const;
const payment = (id: string, day: string, details: Details, steps: Step[]): EventMessage[] =>
  messagesAbout({ resource_type: "payment", resource_external_id: id, ...service }, day, [
    ["09:14:22.018", "PAYMENT_CREATED", { ...created, ...details }],
    ...steps,
  ]);

/** The events of four payments, a refund, a dispute, a payout, and an agreement with two of the payments, by resource. */
const inOrder: EventMessage[] = [
  ...messagesAbout(agreement, "2024-03-05", [
    ["09:00", "AGREEMENT_CREATED", { ...account, ...ticket }],
    ["09:02:11", "AGREEMENT_SET_UP", { payment_instrument_external_id: "demo-card" }],
  ]),
  ...messagesAbout(instrument, "2024-03-05", [
    ["09:02:10", "PAYMENT_INSTRUMENT_CREATED", { ...card, type: "CARD" }],
    ["09:02:10.500", "PAYMENT_INSTRUMENT_CONFIRMED", { agreement_external_id: "demo-agreement" }],
  ]),
  ...payment("demo-success", "2024-03-05", { ...fishing, ...metadata }, [
    ["09:15:02", "PAYMENT_STARTED"],
    ["09:16:40", "PAYMENT_DETAILS_ENTERED", card],
    ["09:16:41.250", "AUTHORISATION_SUCCEEDED", { gateway_transaction_id: "gtx-1" }],
    ["09:16:42", "USER_APPROVED_FOR_CAPTURE"],
    ["10:00:00", "CAPTURE_CONFIRMED", captured],
    ["11:05:00", "REFUND_AVAILABILITY_UPDATED", refundable],
    ["23:30:00", "PAYMENT_INCLUDED_IN_PAYOUT", { gateway_payout_id: "demo-payout" }],
  ]),
  ...messagesAbout(refund, "2024-03-05", [
    ["11:00:00", "REFUND_CREATED_BY_USER", { amount: 1000, refunded_by: "usr4411", ...account }],
    ["11:00:01", "REFUND_SUBMITTED"],
    ["11:04:59", "REFUND_SUCCEEDED", { gateway_transaction_id: "re_9" }],
  ]),
  ...payment("demo-rejected", "2024-03-06", { ...parking(1, 900), ...byAgreement }, [
    ["12:00:30", "PAYMENT_DETAILS_ENTERED", card],
    ["12:00:31", "AUTHORISATION_REJECTED"],
  ]),
  ...payment("demo-expired", "2024-03-07", parking(2, 900), [
    ["09:14:30", "PAYMENT_STARTED"],
    ["10:44:30", "PAYMENT_EXPIRED"],
  ]),
  ...payment("demo-disputed", "2024-03-08", { ...parking(3, 1200), ...ofAgreement }, [
    ["09:20:00", "AUTHORISATION_SUCCEEDED"],
    ["09:21:00", "CAPTURE_CONFIRMED", { captured_date: "2024-03-08T09:21:00.000000Z" }],
    ["23:00:00", "PAYMENT_DISPUTED", { disputed: true }],
  ]),
  ...messagesAbout(dispute, "2024-03-08", [
    ["23:00:00", "DISPUTE_CREATED", { amount: 1200, ...unrecognised, ...account }],
  ]),
  ...messagesAbout(payout, "2024-03-06", [["06:00", "PAYOUT_CREATED", { amount: 4190, ...account }]]),
  ...messagesAbout(payout, "2024-03-08", [
    ["06:00", "PAYOUT_PAID", { paid_out_date: "2024-03-08T06:00:00.000000Z" }],
  ]),
];

/** The events of the demonstration, newest first and every third one twice. */
export const demoEvents = (): EventMessage[] => [
  ...inOrder.toReversed(),
  ...inOrder.filter((_, index) => index % 3 === 0),
];
