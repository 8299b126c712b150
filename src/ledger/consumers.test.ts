import { expect, test } from "vitest";
import { childStory, type EventMessage, story } from "../../testing/messages.ts";
import { ledgerOfFile } from "./ledger.fixture.ts";

/** Requests as the consumers of alphagov/pay-ledger send them, and the members that they read. */

const ledger = await ledgerOfFile({ eventWrites: true });

const ofService = { service_id: "svc1", live: true };
const card = {
  cardholder_name: "A. Angler",
  card_brand: "visa",
  card_brand_label: "Visa",
  card_type: "DEBIT",
  last_digits_card_number: "4242",
};
const created = {
  amount: 4250,
  reference: "LIC-88",
  payment_provider: "stripe",
  agreement_id: "agr1",
  external_metadata: { branch: "North" },
};
const captured = { fee: 60, net_amount: 4190, captured_date: "2024-03-05T09:04:00.000000Z" };
const refundable = {
  refund_amount_available: 3250,
  refund_amount_refunded: 1000,
  refund_status: "available",
};
const payment = story(
  "payment",
  "pay1",
  ["09:00", "PAYMENT_CREATED", created, ofService],
  ["09:01", "PAYMENT_DETAILS_ENTERED", { ...card, gateway_transaction_id: "gtx1" }],
  ["09:02", "AUTHORISATION_SUCCEEDED"],
  ["09:03", "CAPTURE_SUBMITTED", { capture_submitted_date: "2024-03-05T09:03:00.000000Z" }],
  ["09:04", "CAPTURE_CONFIRMED", captured],
  ["09:05", "REFUND_AVAILABILITY_UPDATED", refundable],
  ["23:00", "PAYMENT_INCLUDED_IN_PAYOUT", { gateway_payout_id: "po1" }],
);
const rejected = story(
  "payment",
  "pay2",
  ["10:00", "PAYMENT_CREATED", { amount: 900, reference: "lic-880" }, ofService],
  ["10:01", "AUTHORISATION_REJECTED", { can_retry: false }],
);
const refund = childStory(
  "refund",
  "ref1",
  "pay1",
  ["11:00", "REFUND_CREATED_BY_USER", { amount: 1000, refunded_by: "usr1" }, ofService],
  ["11:01", "REFUND_SUCCEEDED"],
);
const payout = story(
  "payout",
  "po1",
  ["23:00", "PAYOUT_CREATED", { amount: 4190 }, ofService],
  ["23:30", "PAYOUT_PAID", { paid_out_date: "2024-03-08T06:00:00.000000Z" }],
);
const agreement = story(
  "agreement",
  "agr1",
  ["08:00", "AGREEMENT_CREATED", { reference: "PERMIT-7", description: "Permit" }, ofService],
  ["08:10", "AGREEMENT_SET_UP", { payment_instrument_external_id: "ins1" }],
);
const instrument = story(
  "payment_instrument",
  "ins1",
  ["08:05", "PAYMENT_INSTRUMENT_CREATED", { ...card, type: "CARD" }, ofService],
  ["08:06", "PAYMENT_INSTRUMENT_CONFIRMED", { agreement_external_id: "agr1" }],
);
// A refund is written before its payment, which the peer refuses.
const written = [refund, [...payment, ...rejected], [...payout, ...agreement], instrument];

/** The processor insists on the status 202. It sends the account as a number outside the details, too. */
async function connectorWrites(events: EventMessage[]): Promise<void> {
  const body = JSON.stringify(events.map((event) => ({ ...event, gateway_account_id: 57 })));
  const headers = { "content-type": "application/json", accept: "application/json" };
  const { status } = await ledger.request("/v1/event", { method: "POST", headers, body });
  expect(status).toBe(202);
}

for (const events of written) await connectorWrites(events);

const override = "override_account_id_restriction=true";
const overrideBoth = "override_account_or_service_id_restriction=true";
const instants = "from_date=2024-03-01T00:00:00.000Z&to_date=2024-04-01T00:00:00.000Z";
const days = "from_date=2024-03-01&to_date=2024-03-31";
const ofPublicApi = "account_id=57&transaction_type=PAYMENT&status_version=1";
const exactly = `transaction?${ofPublicApi}&exact_reference_match=true`;
const ofSelfService =
  "account_id=57,58&limit_total=true&limit_total_size=5001&page=1&display_size=100" +
  "&payment_states=success,declined&refund_states=success&dispute_states=won&reference=&email=";
const notFound = { status: 404 };
const found = (...ids: string[]) => ({
  total: ids.length,
  results: ids.map((transaction_id) => ({ transaction_id })),
});

// The values of all members are in `model.test.ts`.
const reads: Record<string, [path: string, members: object][]> = {
  "the public API": [
    [`transaction/pay1?${ofPublicApi}`, { refund_summary: { amount_submitted: 1000 }, agreement_id: "agr1" }],
    [`transaction/pay2?${ofPublicApi}`, { state: { status: "failed", code: "P0010", can_retry: false } }],
    [`${exactly}&reference=lic-88&state=success&page=1&display_size=500`, found("pay1")],
    [`${exactly}&page=99`, notFound],
    ["transaction?account_id=57&transaction_type=REFUND&status_version=1", found("ref1")],
    ["transaction/ref1?account_id=57&transaction_type=REFUND&parent_external_id=pay1", { amount: 1000 }],
    ["transaction/pay1/event?gateway_account_id=57&status_version=1", { events: { length: 5 } }],
    ["agreement/agr1?account_id=57", { payment_instrument: { card_details: { card_brand: "visa" } } }],
    ["agreement?account_id=57&status=active&reference=permit&page=1&display_size=500", { total: 1 }],
    ["agreement?account_id=57&page=99", notFound],
  ],
  "the self-service front": [
    [`transaction?${ofSelfService}`, found("ref1", "pay2", "pay1")],
    ["payout?gateway_account_id=57,58&state=paidout&page=1", { results: [{ amount: 4190 }] }],
    [
      `report/transactions-summary?account_id=57&${instants}`,
      { payments: { count: 1, gross_amount: 4250 }, refunds: { count: 1, gross_amount: 1000 } },
    ],
    ["agreement?service_id=svc1&account_id=57&live=true&page=1&status=&reference=permit", { count: 1 }],
    ["agreement/agr1?service_id=svc1", { description: "Permit" }],
    ["agreement/agr1/event?service_id=svc1", { events: { length: 4 } }],
    ["transaction?account_id=57&agreement_id=agr1&display_size=5", found("pay1")],
  ],
  "the admin front": [
    [`transaction/pay1?${override}`, { gateway_account_id: "57" }],
    [`transaction?${override}&page=1&reference=LIC-88`, { total: 3 }],
    ["transaction/pay1/event?gateway_account_id=57&include_all_events=true", { events: { length: 9 } }],
    ["transaction/pay1/transaction?gateway_account_id=57", { transactions: [{}] }],
    [`report/payments_by_state?${override}&${instants}`, { success: 1, declined: 1 }],
    [`report/transactions-summary?${override}&${instants}`, { net_income: 3250 }],
    [`report/transactions-by-hour?${instants}`, [{ all_payments: 1 }, {}, {}]],
    [`report/performance-report?${days}`, { total_volume: expect.any(Number) }],
    [`report/gateway-performance-report?${days}`, [{ gateway_account_id: 57 }]],
    [`event/ticker?${instants}&event_types=AUTHORISATION_REJECTED`, [{ service_external_id: "svc1" }]],
    ["payout?gateway_account_id=57&page=1", { total: 1 }],
    [`agreement/agr1?${overrideBoth}`, { service_id: "svc1" }],
    [`agreement?${overrideBoth}&page=1`, { total: 1 }],
    ["agreement?service_id=svc1&service_id=svc2", { total: 1 }],
  ],
  "the sender of webhooks": [
    [`transaction/pay1?${override}`, { state: { status: "success", finished: true } }],
    [`transaction/none?${override}`, notFound],
  ],
  "the payment processor": [
    ["transaction/gateway-transaction?gateway_transaction_id=gtx1&payment_provider=stripe", { fee: 60 }],
    [
      "transaction/pay1/transaction?gateway_account_id=57&transaction_type=REFUND",
      { parent_transaction_id: "pay1", transactions: [{ refunded_by: "usr1", amount: 1000 }] },
    ],
  ],
};

test.each(Object.entries(reads))("%s reads", async (_consumer, requests) => {
  for (const [path, members] of requests) {
    const { json } = await ledger.request(`/v1/${path}`, { headers: { "X-Consistent": "true" } });
    expect(json, path).toMatchObject(members);
  }
});

test("the payment processor repeats a request, and gets 400 if an event is invalid", async () => {
  await connectorWrites(payment);
  await connectorWrites([]);
  const { status, json } = await ledger.request("/v1/event", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify([...rejected, { ...rejected[0], resource_external_id: undefined }]),
  });
  expect([status, json.message]).toEqual([400, ["event 3: resource_external_id is required"]]);
});
