import { expect, test } from "vitest";
import type { EventMessage } from "../../testing/messages.ts";
import { demoEvents } from "./commands/demo-events.ts";
import { ledgerOfFile } from "./ledger.fixture.ts";

/** Requests as the consumers of alphagov/pay-ledger send them, and the members that they read. */

const ledger = await ledgerOfFile({ eventWrites: true });
// Children are before their payments, which the peer refuses, and some events are repeated.
const events = demoEvents();

/** The processor insists on the status 202. It sends the account as a number outside the details, too. */
async function connectorWrites(events: EventMessage[]): Promise<void> {
  const body = JSON.stringify(events.map((event) => ({ ...event, gateway_account_id: 57 })));
  const headers = { "content-type": "application/json", accept: "application/json" };
  const { status } = await ledger.request("/v1/event", { method: "POST", headers, body });
  expect(status).toBe(202);
}

await connectorWrites(events);

const override = "override_account_id_restriction=true";
const overrideBoth = "override_account_or_service_id_restriction=true";
const instants = "from_date=2024-03-01T00:00:00.000Z&to_date=2024-04-01T00:00:00.000Z";
const days = "from_date=2024-03-01&to_date=2024-03-31";
const ofPublicApi = "account_id=demo&transaction_type=PAYMENT&status_version=1";
const exactly = `transaction?${ofPublicApi}&exact_reference_match=true`;
const ofSelfService =
  "account_id=demo,58&limit_total=true&limit_total_size=5001&page=1&display_size=100" +
  "&payment_states=success,declined&refund_states=success&dispute_states=won&reference=&email=";
const notFound = { status: 404 };
const found = (...ids: string[]) => ({
  total: ids.length,
  results: ids.map((transaction_id) => ({ transaction_id })),
});

// The values of all members are in `model.test.ts`.
const reads: Record<string, [path: string, members: object][]> = {
  "the public API": [
    [`transaction/demo-success?${ofPublicApi}`, { refund_summary: { amount_submitted: 1000 }, metadata: {} }],
    [`transaction/demo-rejected?${ofPublicApi}`, { state: { status: "failed", code: "P0010" } }],
    [`${exactly}&reference=FISHING-88&state=success&page=1&display_size=500`, found("demo-success")],
    [`${exactly}&page=99`, notFound],
    ["transaction?account_id=demo&transaction_type=REFUND&status_version=1", found("demo-refund")],
    [
      "transaction/demo-refund?account_id=demo&transaction_type=REFUND&parent_external_id=demo-success",
      { amount: 1000 },
    ],
    ["transaction/demo-success/event?gateway_account_id=demo&status_version=1", { events: { length: 6 } }],
    ["agreement/demo-agreement?account_id=demo", { payment_instrument: { card_details: {} } }],
    ["agreement?account_id=demo&status=active&reference=PARK&page=1&display_size=500", { total: 1 }],
    ["agreement?account_id=demo&page=99", notFound],
  ],
  "the self-service front": [
    [`transaction?${ofSelfService}`, found("demo-disputed", "demo-rejected", "demo-refund", "demo-success")],
    ["payout?gateway_account_id=demo,58&state=paidout&page=1", { results: [{ amount: 4190 }] }],
    [
      `report/transactions-summary?account_id=demo&${instants}`,
      { payments: { count: 2, gross_amount: 5450 }, refunds: { count: 1, gross_amount: 1000 } },
    ],
    [
      "agreement?service_id=demo-service&account_id=demo&live=true&page=1&status=&reference=park",
      { count: 1 },
    ],
    ["agreement/demo-agreement?service_id=demo-service", { description: "Season ticket" }],
    ["agreement/demo-agreement/event?service_id=demo-service", { events: { length: 4 } }],
    [
      "transaction?account_id=demo&agreement_id=demo-agreement&display_size=5",
      found("demo-disputed", "demo-rejected"),
    ],
  ],
  "the admin front": [
    [`transaction/demo-success?${override}`, { gateway_account_id: "demo" }],
    [`transaction?${override}&page=1&reference=PARKING-3`, found("demo-dispute", "demo-disputed")],
    [
      "transaction/demo-success/event?gateway_account_id=demo&include_all_events=true",
      { events: { length: 11 } },
    ],
    ["transaction/demo-success/transaction?gateway_account_id=demo", { transactions: [{}] }],
    [`report/payments_by_state?${override}&${instants}`, { success: 2, declined: 1 }],
    [`report/transactions-summary?${override}&${instants}`, { net_income: 4450 }],
    [`report/transactions-by-hour?${instants}`, [{ all_payments: 1 }, {}, {}, {}, {}]],
    [`report/performance-report?${days}`, { total_volume: 4 }],
    [`report/gateway-performance-report?${days}`, [{ gateway_account_id: "demo" }]],
    [`event/ticker?${instants}&event_types=PAYMENT_EXPIRED`, [{ service_external_id: "demo-service" }]],
    ["payout?gateway_account_id=demo&page=1", { total: 1 }],
    [`agreement/demo-agreement?${overrideBoth}`, { service_id: "demo-service" }],
    [`agreement?${overrideBoth}&page=1`, { total: 1 }],
    ["agreement?service_id=demo-service&service_id=svc2", { total: 1 }],
  ],
  "the sender of webhooks": [
    [`transaction/demo-success?${override}`, { state: { status: "success", finished: true } }],
    [`transaction/none?${override}`, notFound],
  ],
  "the payment processor": [
    ["transaction/gateway-transaction?gateway_transaction_id=gtx-1&payment_provider=sandbox", { fee: 60 }],
    [
      "transaction/demo-success/transaction?gateway_account_id=demo&transaction_type=REFUND",
      { parent_transaction_id: "demo-success", transactions: [{ refunded_by: "usr4411", amount: 1000 }] },
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
  await connectorWrites(events);
  await connectorWrites([]);
  const { status, json } = await ledger.request("/v1/event", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify([events[0], { ...events[0], resource_external_id: undefined }]),
  });
  expect([status, json.message]).toEqual([400, ["event 2: resource_external_id is required"]]);
});
