import { expect, test } from "vitest";
import { childStory, type EventMessage, story } from "../../testing/messages.ts";
import { ledgerOfFile } from "./ledger.fixture.ts";

/** Requests as the consumers of alphagov/pay-ledger send them, and the members that they read. */

const ledger = await ledgerOfFile({ eventWrites: true });
const { get } = ledger;

const ofService = { service_id: "svc1", live: true };
const card = {
  cardholder_name: "A. Angler",
  card_brand: "visa",
  card_brand_label: "Visa",
  card_type: "DEBIT",
  first_digits_card_number: "424242",
  last_digits_card_number: "4242",
  expiry_date: "11/29",
};
const payment = story(
  "payment",
  "pay1",
  [
    "09:00",
    "PAYMENT_CREATED",
    {
      amount: 4250,
      reference: "LIC-88",
      description: "Licence",
      email: "angler@example.org",
      payment_provider: "stripe",
      return_url: "https://example.org",
      language: "en",
      agreement_id: "agr1",
      external_metadata: { branch: "North" },
    },
    ofService,
  ],
  ["09:01", "PAYMENT_DETAILS_ENTERED", { ...card, gateway_transaction_id: "gtx1" }],
  ["09:02", "AUTHORISATION_SUCCEEDED"],
  ["09:03", "CAPTURE_SUBMITTED", { capture_submitted_date: "2024-03-05T09:03:00.000000Z" }],
  ["09:04", "CAPTURE_CONFIRMED", { fee: 60, net_amount: 4190, captured_date: "2024-03-05T09:04:00.000000Z" }],
  [
    "09:05",
    "REFUND_AVAILABILITY_UPDATED",
    { refund_amount_available: 3250, refund_amount_refunded: 1000, refund_status: "available" },
  ],
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
  [
    "11:00",
    "REFUND_CREATED_BY_USER",
    { amount: 1000, refunded_by: "usr1", user_email: "clerk@example.org" },
    ofService,
  ],
  ["11:01", "REFUND_SUCCEEDED", { gateway_transaction_id: "re_1" }],
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

const statusOf = async (path: string) => (await ledger.request(path)).status;

test("the public API", async () => {
  const found = await get("/v1/transaction/pay1?account_id=57&transaction_type=PAYMENT&status_version=1");
  expect(found).toMatchObject({
    transaction_id: "pay1",
    amount: 4250,
    state: { status: "success", finished: true },
    refund_summary: { status: "available", amount_available: 3250, amount_submitted: 1000 },
    settlement_summary: {
      capture_submit_time: "2024-03-05T09:03:00.000Z",
      captured_date: "2024-03-05",
      settled_date: "2024-03-08",
    },
    card_details: { card_brand: "Visa", last_digits_card_number: "4242", card_type: "debit" },
    metadata: { branch: "North" },
    agreement_id: "agr1",
  });
  expect(
    await get("/v1/transaction/pay2?account_id=57&transaction_type=PAYMENT&status_version=1"),
  ).toMatchObject({
    state: { status: "failed", finished: true, code: "P0010", can_retry: false },
  });
  const search =
    "/v1/transaction?account_id=57&transaction_type=PAYMENT&status_version=1&exact_reference_match=true";
  const page = await get(`${search}&reference=lic-88&state=success&page=1&display_size=500`);
  expect(page).toMatchObject({ total: 1, count: 1, page: 1, results: [{ transaction_id: "pay1" }] });
  expect(page._links).toMatchObject({ self: {}, first_page: {}, last_page: {} });
  expect(await statusOf(`${search}&page=99`)).toBe(404);
  const refunds = "/v1/transaction?account_id=57&transaction_type=REFUND&status_version=1";
  expect((await get(refunds)).results).toMatchObject([
    { transaction_id: "ref1", parent_transaction_id: "pay1", payment_details: { reference: "LIC-88" } },
  ]);
  expect(
    await get("/v1/transaction/ref1?account_id=57&transaction_type=REFUND&parent_external_id=pay1"),
  ).toMatchObject({ amount: 1000, state: { status: "success" } });
  const events = await get("/v1/transaction/pay1/event?gateway_account_id=57&status_version=1");
  expect(events.events.map(({ state }: { state: { status: string } }) => state.status)).toEqual([
    ...["created", "submitted", "success"],
    ...["submitted", "success"],
  ]);
  expect(await get("/v1/agreement/agr1?account_id=57", { "X-Consistent": "true" })).toMatchObject({
    external_id: "agr1",
    status: "ACTIVE",
    reference: "PERMIT-7",
    payment_instrument: { type: "CARD", card_details: { card_brand: "visa" } },
  });
  expect(
    await get("/v1/agreement?account_id=57&status=active&reference=permit&page=1&display_size=500"),
  ).toMatchObject({
    total: 1,
    results: [{ external_id: "agr1", user_identifier: null, cancelled_date: null }],
  });
  expect(await statusOf("/v1/agreement?account_id=57&page=99")).toBe(404);
});

test("the self-service front", async () => {
  const search =
    "/v1/transaction?account_id=57,58&limit_total=true&limit_total_size=5001&page=1&display_size=100" +
    "&payment_states=success,declined&refund_states=success&dispute_states=won&reference=&email=";
  expect(
    (await get(search)).results.map(({ transaction_id }: { transaction_id: string }) => transaction_id),
  ).toEqual(["ref1", "pay2", "pay1"]);
  const { status, headers, text } = await ledger.request(
    "/v1/transaction?account_id=57&fee_headers=true&moto_header=true",
    { headers: { accept: "text/csv" } },
  );
  expect([status, headers["content-type"]]).toEqual([200, "text/csv; charset=utf-8"]);
  expect(text.split("\n")[0]).toMatch(/^Reference,.*,Fee,Net,.*,MOTO,.*,branch \(metadata\)$/);
  expect(await get("/v1/payout?gateway_account_id=57,58&state=paidout&page=1")).toMatchObject({
    total: 1,
    results: [{ gateway_payout_id: "po1", amount: 4190, paid_out_date: "2024-03-08T06:00:00.000Z" }],
  });
  expect(
    await get(
      "/v1/report/transactions-summary?account_id=57&from_date=2024-03-01T00:00:00.000Z&to_date=2024-04-01T00:00:00.000Z",
    ),
  ).toMatchObject({ payments: { count: 1, gross_amount: 4250 }, refunds: { count: 1, gross_amount: 1000 } });
  const agreements = "/v1/agreement?service_id=svc1&account_id=57&live=true&page=1&status=&reference=permit";
  expect(await get(agreements)).toMatchObject({ total: 1, count: 1, results: [{ external_id: "agr1" }] });
  expect(await get("/v1/agreement/agr1?service_id=svc1")).toMatchObject({ description: "Permit" });
  const events = await get("/v1/agreement/agr1/event?service_id=svc1");
  expect(events.events.map(({ event_type }: { event_type: string }) => event_type)).toEqual([
    "AGREEMENT_CREATED",
    "PAYMENT_INSTRUMENT_CREATED",
    "PAYMENT_INSTRUMENT_CONFIRMED",
    "AGREEMENT_SET_UP",
  ]);
  const ofAgreement = await get("/v1/transaction?account_id=57&agreement_id=agr1&display_size=5");
  expect(ofAgreement.results).toMatchObject([{ transaction_id: "pay1" }]);
});

test("the admin front", async () => {
  const override = "override_account_id_restriction=true";
  const march = "from_date=2024-03-01T00:00:00.000Z&to_date=2024-04-01T00:00:00.000Z";
  const days = "from_date=2024-03-01&to_date=2024-03-31";
  expect(await get(`/v1/transaction/pay1?${override}`)).toMatchObject({ gateway_account_id: "57" });
  expect(await get(`/v1/transaction?${override}&page=1&reference=LIC-88`)).toMatchObject({ total: 3 });
  expect(
    (await get("/v1/transaction/pay1/event?gateway_account_id=57&include_all_events=true")).events,
  ).toHaveLength(9);
  expect((await get("/v1/transaction/pay1/transaction?gateway_account_id=57")).transactions).toHaveLength(1);
  expect(await get(`/v1/report/payments_by_state?${override}&${march}`)).toMatchObject({
    success: 1,
    declined: 1,
  });
  expect(await get(`/v1/report/transactions-summary?${override}&${march}`)).toMatchObject({
    net_income: 3250,
  });
  expect(await get(`/v1/report/transactions-by-hour?${march}`)).toMatchObject([{ all_payments: 1 }, {}, {}]);
  expect(await get(`/v1/report/performance-report?${days}`)).toMatchObject({
    total_volume: expect.any(Number),
  });
  expect(await get(`/v1/report/gateway-performance-report?${days}`)).toMatchObject([
    { gateway_account_id: 57 },
  ]);
  const ticker = await get(`/v1/event/ticker?${march}`);
  expect(ticker[0]).toMatchObject({ event_type: "PAYMENT_INCLUDED_IN_PAYOUT", service_external_id: "svc1" });
  expect(await get("/v1/payout?gateway_account_id=57&page=1")).toMatchObject({ total: 1 });
  const overrideBoth = "override_account_or_service_id_restriction=true";
  expect(await get(`/v1/agreement/agr1?${overrideBoth}`)).toMatchObject({ service_id: "svc1" });
  expect(await get(`/v1/agreement?${overrideBoth}&page=1`)).toMatchObject({ total: 1 });
  expect(await get("/v1/agreement?service_id=svc1&service_id=svc2")).toMatchObject({ total: 1 });
});

test("the sender of webhooks", async () => {
  for (const id of ["pay1", "ref1"])
    expect(await get(`/v1/transaction/${id}?override_account_id_restriction=true`)).toMatchObject({
      transaction_id: id,
      state: { status: "success", finished: true },
    });
  expect(await statusOf("/v1/transaction/none?override_account_id_restriction=true")).toBe(404);
});

test("the payment processor", async () => {
  // It repeats a request whose response it did not get.
  await connectorWrites(payment);
  await connectorWrites([]);
  expect(await get("/v1/transaction/pay1?override_account_id_restriction=true")).toMatchObject({ fee: 60 });
  expect(
    await get("/v1/transaction/gateway-transaction?gateway_transaction_id=gtx1&payment_provider=stripe"),
  ).toMatchObject({ transaction_id: "pay1" });
  const children = await get(
    "/v1/transaction/pay1/transaction?gateway_account_id=57&transaction_type=REFUND",
  );
  expect(children).toMatchObject({
    parent_transaction_id: "pay1",
    transactions: [{ transaction_id: "ref1", refunded_by: "usr1", amount: 1000 }],
  });
  const { status, json } = await ledger.request("/v1/event", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify([...rejected, { ...rejected[0], resource_external_id: undefined }]),
  });
  expect([status, json.message]).toEqual([400, ["event 3: resource_external_id is required"]]);
});
