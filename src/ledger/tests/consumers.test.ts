import { expect, test } from "vitest";
import { demoEvents } from "../../../scripts/demo/demo-events.ts";
import { childStory, type EventMessage, story } from "../../../testing/messages.ts";
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
/** Accounts of all services of one user. */
const thousand = ["demo", ...Array.from({ length: 999 }, (_, n) => 200_000 + n)].join("%2C");
const ofStatistics = "from_date=2023-03-05&to_date=2023-03-05";
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
    [`${exactly}&card_brand=visa&state=&page=&reference=`, found("demo-rejected", "demo-success")],
    [`${exactly}&card_brand=diners-club`, found()],
    [`${exactly}&card_brand=`, found("demo-disputed", "demo-expired", "demo-rejected", "demo-success")],
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
    [
      `transaction?account_id=${thousand}&limit_total=true&limit_total_size=5001&refund_states=created`,
      found(),
    ],
    [`payout?gateway_account_id=${thousand}&state=paidout`, { total: 1 }],
    // Its pages read the card of each, also of a refund whose payment has not arrived.
    [
      "transaction?account_id=orphan",
      { results: [{ payment_details: { card_details: { card_brand: "" } } }] },
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
    [`report/transactions-by-hour?${instants}`, [{ all_payments: 1 }, {}, {}, {}, {}, {}]],
    [`report/performance-report?${days}`, { total_volume: 4 }],
    [`report/gateway-performance-report?${days}`, [{ gateway_account_id: "demo" }]],
    [`event/ticker?${instants}&event_types=PAYMENT_EXPIRED`, [{ service_external_id: "demo-service" }]],
    ["payout?gateway_account_id=demo&page=1", { total: 1 }],
    [`agreement/demo-agreement?${overrideBoth}`, { service_id: "demo-service" }],
    [`agreement?${overrideBoth}&page=1`, { total: 3 }],
    ["agreement?service_id=demo-service&service_id=svc2", { total: 1 }],
    [`agreement?${overrideBoth}&page=1&display_size=20&limit_total=true&limit_total_size=5000`, { total: 3 }],
    [
      "agreement/demo-agreement/event?service_id=demo-service&include_all_events=true",
      { events: { length: 4 } },
    ],
    [`payout?${override}&state=&page=1&display_size=20`, { total: 1 }],
  ],
  "the admin front's statistics": [
    // A payment that corrects a failed refund, and one without an amount, count as alphagov/pay-ledger counts them.
    [
      `report/performance-report?${ofStatistics}`,
      { total_volume: 2, total_amount: 1105, average_amount: 552.5 },
    ],
    [`report/performance-report?${ofStatistics}&state=SUCCESS`, { total_volume: 1, total_amount: 1005 }],
    [
      "report/gateway-performance-report?from_date=2016-09-14&to_date=2023-12-31",
      [{ gateway_account_id: 300_001, total_volume: 1, total_amount: 1005, average_amount: 1005 }],
    ],
    [
      "report/performance-report-legacy?from_date=2023-03-05T00:00:00Z&to_date=2023-03-05T23:59:59.999Z",
      { total_volume: 4, total_amount: 1850 },
    ],
    [
      "report/performance-report-legacy?from_date=2023-03-05T00:00:00Z&to_date=2023-03-05T23:59:59.999Z&state=SUCCESS",
      { total_volume: 2, total_amount: 1500 },
    ],
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

/** The members that an object can have, and those of its members. Any value is allowed for `null`. */
type Members = { [name: string]: Members | null };
const members = (names: string, nested: Members = {}): Members => ({
  ...Object.fromEntries(names.split(" ").map((name) => [name, null])),
  ...nested,
});

const ofState = members("status finished code message can_retry");
const ofCard = members("cardholder_name card_brand last_digits_card_number first_digits_card_number", {
  ...members("expiry_date card_type"),
  billing_address: members("line1 line2 postcode city county country"),
});
const ofTransaction = {
  ...members("transaction_id transaction_type parent_transaction_id gateway_account_id service_id"),
  ...members(
    "credential_external_id amount total_amount corporate_card_surcharge fee net_amount description",
  ),
  ...members("reference language return_url email payment_provider created_date delayed_capture moto live"),
  ...members("gateway_transaction_id metadata source wallet_type gateway_payout_id authorisation_mode"),
  ...members("agreement_id disputed agreement_payment_type refunded_by refunded_by_user_email reason"),
  ...members("evidence_due_date"),
  state: ofState,
  card_details: ofCard,
  exemption: members("requested type", { outcome: members("result") }),
  refund_summary: members("status user_external_id amount_available amount_submitted amount_refunded"),
  settlement_summary: members("capture_submit_time captured_date settled_date"),
  authorisation_summary: { three_d_secure: members("required version") },
  payment_details: members("description reference email wallet_type transaction_type", {
    card_details: ofCard,
  }),
};
const ofAgreement = {
  ...members("external_id service_id reference description status live created_date user_identifier"),
  ...members("cancelled_date cancelled_by_user_email"),
  payment_instrument: members("external_id agreement_external_id type created_date", {
    card_details: ofCard,
  }),
};
const ofLink = members("href");
const ofPage = (ofResult: Members) =>
  members("total count page", {
    results: ofResult,
    _links: {
      ...{ self: ofLink, first_page: ofLink, last_page: ofLink, prev_page: ofLink, next_page: ofLink },
    },
  });
const ofEvent = members("amount resource_type event_type timestamp data", { state: ofState });
const ofSum = members("count gross_amount");
const statuses = "undefined created started submitted capturable success declined timedout cancelled error";

/** The members of alphagov/pay-ledger. Some readers reject any other. */
const membersOfPeer: [path: RegExp, Members][] = [
  [/^transaction\?/, ofPage(ofTransaction)],
  [/^transaction\/[\w-]+\?/, ofTransaction],
  [/^transaction\/[\w-]+\/event/, members("transaction_id", { events: ofEvent })],
  [/^transaction\/[\w-]+\/transaction/, members("parent_transaction_id", { transactions: ofTransaction })],
  [
    /^payout\?/,
    ofPage(
      members("amount created_date gateway_payout_id gateway_account_id service_id live paid_out_date", {
        state: ofState,
      }),
    ),
  ],
  [/^agreement\?/, ofPage(ofAgreement)],
  [/^agreement\/[\w-]+\?/, ofAgreement],
  [
    /^agreement\/[\w-]+\/event/,
    { events: members("resource_external_id resource_type event_type timestamp live service_id data") },
  ],
  [
    /^report\/transactions-summary/,
    members("net_income", { payments: ofSum, moto_payments: ofSum, refunds: ofSum }),
  ],
  [/^report\/payments_by_state/, members(`${statuses} needs_response under_review lost won`)],
  [
    /^report\/transactions-by-hour/,
    members("timestamp all_payments errored_payments completed_payments amount net_amount total_amount fee"),
  ],
  [/^report\/performance-report/, members("total_volume total_amount average_amount")],
  [
    /^report\/gateway-performance-report/,
    members("gateway_account_id total_volume total_amount average_amount year month"),
  ],
  [
    /^event\/ticker/,
    {
      ...members("resource_external_id event_type event_date resource_type transaction_type card_brand"),
      ...members("gateway_account_id source amount service_external_id payment_provider wallet_type"),
      ...members("is_moto is_recurring"),
    },
  ],
];

/** The paths of the members of a value that the peer does not have. Lists are read through. */
function othersIn(value: unknown, known: Members | null, path = ""): string[] {
  if (known === null || typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => othersIn(item, known, path)))];
  return Object.entries(value).flatMap(([name, member]) =>
    name in known ? othersIn(member, known[name] ?? null, `${path}/${name}`) : `${path}/${name}`,
  );
}

const othersInResponse = (path: string, json: unknown) =>
  othersIn(json, membersOfPeer.find(([ofPath]) => ofPath.test(path))?.[1] ?? {});

test.each(Object.entries(reads))(
  "%s reads what it knows, and no other member",
  async (_consumer, requests) => {
    for (const [path, part] of requests) {
      const { status, json } = await ledger.request(`/v1/${path}`, { headers: { "X-Consistent": "true" } });
      expect(json, path).toMatchObject(part);
      if (status === 200) expect(othersInResponse(path, json), path).toEqual([]);
    }
  },
);

type Step = Parameters<typeof story>[2];
const livePayment = (id: string, ...steps: Step[]) =>
  story("payment", id, ...steps).map((event) => ({
    ...event,
    timestamp: event.timestamp.replace(/^[^T]+/, "2023-03-05"),
    live: true,
  }));
const ofStatistic = { gateway_account_id: "300001" };
const correction = { ...ofStatistic, amount: 500 };
await ledger.store(
  livePayment(
    "with-surcharge",
    ["09:00", "PAYMENT_CREATED", { ...ofStatistic, amount: 1000 }],
    ["09:01", "PAYMENT_DETAILS_ENTERED", { corporate_surcharge: 5, total_amount: 1005 }],
    ["09:02", "CAPTURE_CONFIRMED"],
  ),
  livePayment(
    "declined",
    ["09:00", "PAYMENT_CREATED", { ...ofStatistic, amount: 100 }],
    ["09:01", "AUTHORISATION_REJECTED"],
  ),
  livePayment("unfinished", ["09:00", "PAYMENT_CREATED", { ...ofStatistic, amount: 250 }]),
  livePayment("without-amount", ["09:00", "PAYMENT_CREATED", ofStatistic]),
  livePayment(
    "correction",
    ["09:00", "REFUND_FAILURE_FUNDS_SENT_TO_CONNECT_ACCOUNT", correction],
    ["09:01", "PAYMENT_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN", ofStatistic],
  ),
);
const ofOrphan = { gateway_account_id: "orphan" };
await ledger.store(
  childStory("refund", "orphan", "unknown", ["09:00", "REFUND_CREATED_BY_SERVICE", ofOrphan]),
);
const ofMany = { gateway_account_id: "many" };
await ledger.store(...["a", "b"].map((id) => story("agreement", id, ["09:00", "AGREEMENT_CREATED", ofMany])));

test.each([
  ["transaction?account_id=demo&display_size=1", ["/_links/next_cursor"]],
  ["agreement?account_id=many&display_size=1", ["/_links/next_cursor"]],
  ["transaction/demo-success/event?gateway_account_id=demo", ["/events/event_id"]],
  ["agreement/demo-agreement/event?service_id=demo-service", ["/events/event_id"]],
])("%s has other members only for a caller who requests them", async (path, others) => {
  expect(othersInResponse(path, await ledger.get(`/v1/${path}`))).toEqual([]);
  expect(othersInResponse(path, await ledger.get(`/v1/${path}&extended=true`))).toEqual(others);
  expect(othersInResponse(path, await ledger.get(`/v1/${path}&extended=false`))).toEqual([]);
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
