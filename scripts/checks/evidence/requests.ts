import { resourceTypes } from "../../../src/ledger/tables/event.ts";

/**
 * A request and its expected status. Together with the messages these requests cover every parameter and every value of a
 * response. observe.ts adds the requests that every operation must reject.
 */
export interface RequestCase {
  status: number;
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
}

const get = (status: number, ...paths: string[]): RequestCase[] =>
  paths.map((path) => ({ status, method: "GET", path }));

const withHeader = (request: RequestCase, name: string, value: string): RequestCase => ({
  ...request,
  headers: { [name]: value },
});

const search = (...queries: string[]) =>
  get(200, ...queries.map((query) => `/v1/transaction/?account_id=57&${query}`));

const post = (status: number, body: unknown): RequestCase => ({
  status,
  method: "POST",
  path: "/v1/event",
  body,
});
const addedEvent = {
  event_type: "PAYMENT_CREATED",
  resource_type: "payment",
  resource_external_id: "added",
  timestamp: "2024-03-05T09:14:22Z",
};

const report = (...queries: string[]) =>
  get(200, ...queries.map((query) => `/v1/report/transactions?account_id=57&${query}`));

const all = "override_account_id_restriction=true";
const allAgreements = "override_account_or_service_id_restriction=true";
/** All years of the data, as instants and as days. */
const instants = "from_date=2018-01-01T00:00:00Z&to_date=2025-01-01T00:00:00Z";
const days = "from_date=2018-01-01&to_date=2025-01-01";
const ofMarch = "from_date=2024-03-01T00:00:00Z&to_date=2024-04-01T00:00:00Z";
const daysOfMarch = "from_date=2024-03-01&to_date=2024-03-31";

const states = {
  1: [
    "undefined",
    "created",
    "started",
    "submitted",
    "capturable",
    "success",
    "failed",
    "cancelled",
    "error",
  ],
  2: ["declined", "timedout", "needs_response", "under_review", "lost", "won"],
};
const ids = [
  ...[
    "full",
    "minimal",
    "without-state",
    "started",
    "submitted",
    "capturable",
    "declined",
    "timedout",
    "cancelled-by-user",
    "cancelled",
  ],
  ...[
    "error",
    "exemption-requested",
    "refund",
    "refund-minimal",
    "refund-failed",
    "refund-without-parent",
    "refund-of-minimal",
    "dispute",
  ],
  ...[
    "dispute-minimal",
    "dispute-evidence-submitted",
    "dispute-won",
    "dispute-without-parent",
    "dispute-of-minimal",
  ],
];

/** The states of a payment as they are stored. */
const storedStates = [
  ...["UNDEFINED", "CREATED", "STARTED", "SUBMITTED", "CAPTURABLE", "SUCCESS"],
  ...["FAILED_REJECTED", "FAILED_EXPIRED", "FAILED_CANCELLED", "CANCELLED", "ERROR", "ERROR_GATEWAY"],
  ...["NEEDS_RESPONSE", "UNDER_REVIEW", "LOST", "WON"],
];

const cursor = (...members: unknown[]) => Buffer.from(JSON.stringify(members)).toString("base64url");

export const ledgerRequests: RequestCase[] = [
  ...get(200, "/healthcheck", "/metrics"),
  ...Array.from({ length: 30 }, (_, index) => get(200, `/v1/event/${index + 1}`)).flat(),
  ...get(404, "/v1/event/999999", "/v1/event/99999999999999999999"),
  ...get(400, "/v1/event/first"),

  ...ids.flatMap((id) => get(200, `/v1/transaction/${id}?account_id=57`)),
  ...get(
    200,
    "/v1/transaction/declined?account_id=57&status_version=1",
    "/v1/transaction/declined?account_id=57&status_version=2",
    ...["without-account", "refund-without-account", "dispute-without-account"].map(
      (id) => `/v1/transaction/${id}?override_account_id_restriction=true`,
    ),
    "/v1/transaction/full?account_id=57&override_account_id_restriction=false",
    "/v1/transaction/full?account_id=57&as_of=2024-03-05T00:30:00Z",
    "/v1/transaction/refund?account_id=57&parent_external_id=full",
    ...["PAYMENT", "payment"].map((type) => `/v1/transaction/full?account_id=57&transaction_type=${type}`),
    ...["REFUND", "refund"].map((type) => `/v1/transaction/refund?account_id=57&transaction_type=${type}`),
    ...["DISPUTE", "dispute"].map((type) => `/v1/transaction/dispute?account_id=57&transaction_type=${type}`),
  ),
  ...get(404, "/v1/transaction/unknown?account_id=57", "/v1/transaction/full?account_id=58"),
  ...get(400, "/v1/transaction/full"),

  ...get(200, "/v1/transaction/gateway-transaction?gateway_transaction_id=gtx-1&payment_provider=sandbox"),
  ...get(404, "/v1/transaction/gateway-transaction?gateway_transaction_id=gtx-0&payment_provider=sandbox"),
  ...get(
    400,
    "/v1/transaction/gateway-transaction?gateway_transaction_id=gtx-1",
    "/v1/transaction/gateway-transaction?payment_provider=sandbox",
  ),

  ...search("override_account_id_restriction=false"),
  ...get(200, "/v1/transaction/?override_account_id_restriction=true", "/v1/transaction/?account_id=57,58"),
  ...states[1].flatMap((state) => search(`status_version=1&state=${state}`)),
  ...states[2].flatMap((state) => search(`status_version=2&state=${state}`)),
  ...search(
    "from_date=2024-03-01T00:00:00Z&to_date=2024-04-01T00:00:00Z",
    "email=ANGLER",
    "reference=lic",
    "reference=lic-88&exact_reference_match=true",
    "reference=lic&exact_reference_match=false",
    "cardholder_name=angler",
    "first_digits_card_number=424242",
    "last_digits_card_number=4242",
    "payment_states=created,success",
    "refund_states=submitted",
    "dispute_states=needs_response",
    "card_brands=visa",
    ...["PAYMENT", "REFUND", "DISPUTE", "payment", "refund", "dispute"].map(
      (type) => `transaction_type=${type}`,
    ),
    "gateway_payout_id=po_44",
    "gateway_transaction_id=gtx-1",
    "from_settled_date=2024-03-11&to_settled_date=2024-03-11",
    "metadata_value=north",
    "agreement_id=agr-1",
    "limit_total=true&limit_total_size=5001",
    "limit_total=false",
    "format=json",
    "format=csv",
    "page=2&display_size=3",
    `cursor=${cursor("2024-03-05T00:00:00.000000Z", "full", "999", 2, 1)}`,
    "fee_headers=true",
    "fee_headers=false",
    "moto_header=true",
    "moto_header=false",
    "reference=no-such-thing",
  ),
  ...get(200, "/v1/transaction/?account_id=57").map((request) => withHeader(request, "accept", "text/csv")),
  ...get(404, "/v1/transaction/?account_id=57&page=99"),
  ...get(
    400,
    "/v1/transaction/",
    "/v1/transaction/?account_id=",
    "/v1/transaction/?account_id=57&from_date=today",
  ),

  ...["full", "without-state"].flatMap((id) =>
    get(
      200,
      `/v1/transaction/${id}/event?gateway_account_id=57`,
      `/v1/transaction/${id}/event?gateway_account_id=57&include_all_events=true`,
    ),
  ),
  ...get(
    200,
    "/v1/transaction/declined/event?gateway_account_id=57&status_version=1&include_all_events=false",
    "/v1/transaction/declined/event?gateway_account_id=57&status_version=2",
    "/v1/transaction/full/event?gateway_account_id=57&as_of=2024-03-05T00:30:00Z",
  ),
  ...get(
    200,
    "/v1/transaction/large/event?gateway_account_id=58",
    `/v1/transaction/full/event?gateway_account_id=57&cursor=${cursor("2024-03-05T00:00:00.000000Z", "A", "payment", "full")}`,
  ),
  ...get(404, "/v1/transaction/unknown/event?gateway_account_id=57"),
  ...get(400, "/v1/transaction/full/event", "/v1/transaction/full/event?gateway_account_id=57&cursor=x"),

  ...get(200, "/v1/transaction/full/transaction?gateway_account_id=57"),
  ...["PAYMENT", "REFUND", "DISPUTE", "payment", "refund", "dispute"].flatMap((type) =>
    get(200, `/v1/transaction/full/transaction?gateway_account_id=57&transaction_type=${type}`),
  ),
  ...get(
    200,
    "/v1/transaction/large/transaction?gateway_account_id=58",
    `/v1/transaction/full/transaction?gateway_account_id=57&cursor=${cursor("2024-03-05T00:00:00.000000Z", "full")}`,
  ),
  ...get(404, "/v1/transaction/unknown/transaction?gateway_account_id=57"),
  ...get(400, "/v1/transaction/full/transaction"),

  ...get(
    200,
    "/v1/event",
    "/v1/event?limit=1",
    "/v1/event?cursor=newest",
    "/v1/event?account_id=57,58",
    "/v1/event?event_types=PAYMENT_CREATED&event_types=REFUND_SUCCEEDED",
    ...resourceTypes.map((type) => `/v1/event?resource_types=${type}`),
    `/v1/event?cursor=${cursor("0", "0", "2024-03-05T00:30:00.000000Z")}`,
  ),
  ...get(400, "/v1/event?cursor=x"),
  ...get(410, `/v1/event?cursor=${cursor("0", "999999", "2024-03-05T00:30:00.000000Z")}`),
  ...get(200, "/v1/event").map((request) => withHeader(request, "last-event-id", "newest")),
  ...get(400, "/v1/event").map((request) => withHeader(request, "last-event-id", "x")),
  ...["application/x-ndjson", "text/event-stream"].flatMap((type) =>
    get(200, "/v1/event").map((request) => withHeader(request, "accept", type)),
  ),

  ...get(
    200,
    `/v1/event/ticker?${ofMarch}`,
    `/v1/event/ticker?${ofMarch}&event_types=PAYMENT_CREATED&event_types=REFUND_SUCCEEDED`,
    `/v1/event/ticker?${ofMarch}&cursor=${cursor("2024-03-05T00:30:00.000000Z", "999999")}`,
  ),
  ...get(
    400,
    "/v1/event/ticker?to_date=2024-04-01T00:00:00Z",
    "/v1/event/ticker?from_date=2024-03-01T00:00:00Z",
    `/v1/event/ticker?${ofMarch}&cursor=x`,
  ),

  ...report(
    "group_by=account,type,state,day,week,month,live,moto",
    `group_by=month&time_zone=UTC&${ofMarch}`,
    "group_by=month&time_zone=Europe/London",
    "override_account_id_restriction=false",
    ...["PAYMENT", "REFUND", "DISPUTE", "payment", "refund", "dispute"].map(
      (type) => `transaction_type=${type}`,
    ),
    ...states[1].map((state) => `status_version=1&state=${state}`),
    ...states[2].map((state) => `status_version=2&state=${state}`),
    "payment_states=created,success",
    "refund_states=submitted",
    "dispute_states=needs_response",
    "group_by=state&display_size=2",
    `group_by=state&display_size=2&cursor=${cursor("cancelled")}`,
    "group_by=state&format=json",
    "group_by=state&format=csv",
  ),
  ...get(200, `/v1/report/transactions?${all}&${ofMarch}&group_by=account,live,moto`),
  ...report("group_by=type").map((request) => withHeader(request, "accept", "text/csv")),
  ...get(
    400,
    "/v1/report/transactions",
    "/v1/report/transactions?account_id=57&group_by=type,type",
    "/v1/report/transactions?account_id=57&state=declined&status_version=1",
    "/v1/report/transactions?account_id=57&group_by=type&cursor=x",
  ),

  ...get(
    200,
    `/v1/report/transactions-summary?account_id=57&override_account_id_restriction=false&${ofMarch}`,
    `/v1/report/transactions-summary?${all}&override_from_date_validation=true`,
    `/v1/report/transactions-summary?${all}&${ofMarch}&override_from_date_validation=false`,
    `/v1/report/transactions-summary?account_id=57&${ofMarch}&include_moto_statistics=true`,
    `/v1/report/transactions-summary?account_id=57&${ofMarch}&include_moto_statistics=false`,
  ),
  ...get(
    400,
    "/v1/report/transactions-summary?from_date=2024-03-01T00:00:00Z",
    "/v1/report/transactions-summary?account_id=57",
  ),

  ...get(
    200,
    "/v1/report/payments_by_state?account_id=57",
    `/v1/report/payments_by_state?account_id=57&override_account_id_restriction=false&${ofMarch}`,
    `/v1/report/payments_by_state?${all}&include_moto_statistics=true`,
    `/v1/report/payments_by_state?${all}&include_moto_statistics=false`,
  ),
  ...get(400, "/v1/report/payments_by_state"),

  ...get(
    200,
    `/v1/report/transactions-by-hour?${ofMarch}`,
    `/v1/report/transactions-by-hour?${instants}`,
    `/v1/report/transactions-by-hour?${instants}&cursor=${cursor("2024-03-05T00:00:00.000000Z")}`,
  ),
  ...get(
    400,
    "/v1/report/transactions-by-hour?from_date=2024-03-01T00:00:00Z",
    "/v1/report/transactions-by-hour?to_date=2024-03-01T00:00:00Z",
    `/v1/report/transactions-by-hour?${ofMarch}&cursor=x`,
  ),

  ...get(200, "/v1/report/performance-report", `/v1/report/performance-report?${daysOfMarch}`),
  ...get(200, ...storedStates.map((state) => `/v1/report/performance-report?state=${state}`)),
  ...get(400, "/v1/report/performance-report?from_date=2024-03-01"),
  ...get(200, "/v1/report/performance-report-legacy", `/v1/report/performance-report-legacy?${ofMarch}`),
  ...get(200, ...storedStates.map((state) => `/v1/report/performance-report-legacy?state=${state}`)),
  ...get(400, "/v1/report/performance-report-legacy?to_date=2024-03-01T00:00:00Z"),

  ...get(
    200,
    `/v1/report/gateway-performance-report?${daysOfMarch}`,
    `/v1/report/gateway-performance-report?${days}`,
    `/v1/report/gateway-performance-report?${days}&cursor=${cursor("57", "2024-02-01")}`,
  ),
  ...get(
    400,
    "/v1/report/gateway-performance-report?from_date=2024-03-01",
    "/v1/report/gateway-performance-report?to_date=2024-03-01",
    "/v1/report/gateway-performance-report?from_date=2024-03-02&to_date=2024-03-01",
    `/v1/report/gateway-performance-report?${days}&cursor=x`,
  ),

  ...get(
    200,
    "/v1/payout?gateway_account_id=57",
    "/v1/payout?gateway_account_id=57,58&override_account_id_restriction=false",
    `/v1/payout?${all}`,
    "/v1/payout?gateway_account_id=57&page=2&display_size=1",
    "/v1/payout?gateway_account_id=unknown",
    ...["undefined", "intransit", "paidout", "failed"].map(
      (state) => `/v1/payout?gateway_account_id=57&state=${state}`,
    ),
  ),
  ...get(404, "/v1/payout?gateway_account_id=57&page=99"),
  ...get(400, "/v1/payout", "/v1/payout?gateway_account_id=57&page=0"),

  ...get(
    200,
    "/v1/payout/po_44?gateway_account_id=57",
    "/v1/payout/po_44?gateway_account_id=57&override_account_id_restriction=false",
    `/v1/payout/payout-without-account?${all}`,
  ),
  ...get(404, "/v1/payout/unknown?gateway_account_id=57", "/v1/payout/po_44?gateway_account_id=58"),
  ...get(400, "/v1/payout/po_44"),

  ...get(
    200,
    "/v1/agreement?account_id=57",
    "/v1/agreement?service_id=svc91b27&service_id=other&override_account_or_service_id_restriction=false",
    `/v1/agreement?${allAgreements}&page=2&display_size=1`,
    `/v1/agreement?${allAgreements}&cursor=${cursor("2024-03-06T00:00:00.000000Z", "agr", "999999", 2, 9)}`,
    "/v1/agreement?account_id=57&reference=permit&exact_reference_match=false&live=true",
    "/v1/agreement?account_id=57&reference=permit-7&exact_reference_match=true&live=false",
    "/v1/agreement?account_id=unknown",
    ...["UNDEFINED", "CREATED", "ACTIVE", "INACTIVE", "CANCELLED", "active"].map(
      (status) => `/v1/agreement?${allAgreements}&status=${status}`,
    ),
  ),
  ...get(404, "/v1/agreement?account_id=57&page=99"),
  ...get(400, "/v1/agreement", "/v1/agreement?account_id=57&page=0", "/v1/agreement?account_id=57&cursor=x"),

  ...get(
    200,
    "/v1/agreement/agr-1?account_id=57&as_of=2024-03-05T01:30:00Z",
    "/v1/agreement/agr-1?service_id=svc91b27&override_account_or_service_id_restriction=false",
    ...["agr-created", "agr-active", "agr-inactive", "agr-undefined", "agr-large"].map(
      (id) => `/v1/agreement/${id}?${allAgreements}`,
    ),
  ),
  ...["true", "false"].flatMap((value) =>
    get(200, "/v1/agreement/agr-1?account_id=57").map((request) =>
      withHeader(request, "x-consistent", value),
    ),
  ),
  ...get(404, "/v1/agreement/unknown?account_id=57", "/v1/agreement/agr-1?account_id=58"),
  ...get(400, "/v1/agreement/agr-1"),

  ...get(
    200,
    "/v1/agreement/agr-1/event",
    "/v1/agreement/agr-1/event?account_id=57&as_of=2024-03-05T01:30:00Z",
    "/v1/agreement/agr-1/event?service_id=svc91b27",
    "/v1/agreement/agr-large/event",
    `/v1/agreement/agr-1/event?cursor=${cursor("2024-03-05T00:00:00.000000Z", "A", "agreement", "agr-1")}`,
  ),
  ...get(404, "/v1/agreement/unknown/event"),
  ...get(400, "/v1/agreement/agr-1/event?cursor=x"),

  ...get(
    200,
    "/v1/intake",
    "/v1/dead-letter",
    "/v1/dead-letter?state=open",
    "/v1/dead-letter?state=discarded",
  ),
  ...get(200, "/v1/dead-letter?display_size=2", `/v1/dead-letter?cursor=${cursor("1003")}`),
  ...get(400, "/v1/dead-letter?state=lost", "/v1/dead-letter?cursor=x"),
  ...[1001, 1002, 1003, 1004, 1005].flatMap((id) => get(200, `/v1/dead-letter/${id}`)),
  ...get(404, "/v1/dead-letter/999999", "/v1/dead-letter/99999999999999999999"),
  ...get(400, "/v1/dead-letter/first"),

  post(202, addedEvent),
  post(202, [
    addedEvent,
    { ...addedEvent, timestamp: "2024-03-05T09:15:22Z", reproject_domain_object: true },
  ]),
  post(202, []),
  post(400, { ...addedEvent, timestamp: "noon" }),
];

const customer = "/features/customer/42";
const feature = `${customer}/dark-mode`;
const otherCustomer = { resource: "customer", id: "43" };
const flag = "/ofrep/v1/evaluate/flags/dark-mode";
const flags = "/ofrep/v1/evaluate/flags";
const context = { targetingKey: "customer/42" };

const send = (
  status: number,
  method: "POST" | "PUT" | "DELETE",
  path: string,
  body?: unknown,
): RequestCase => ({
  status,
  method,
  path,
  body,
});
/** The same request with an If-None-Match that every ETag matches. */
const notModified = (request: RequestCase): RequestCase =>
  withHeader({ ...request, status: 304 }, "if-none-match", "*");

/** The same request at an instant of the past. */
const atAnInstant = (request: RequestCase): RequestCase => ({
  ...request,
  path: `${request.path}${request.path.includes("?") ? "&" : "?"}as_of=2026-01-01T00:00:00Z`,
});

export const featuresRequests: RequestCase[] = [
  ...get(200, customer, feature, "/healthcheck", "/metrics"),
  send(201, "POST", feature),
  send(200, "POST", feature),
  send(201, "POST", `${customer}/temporary?expires_at=9999-01-01T00:00:00Z`),
  send(400, "POST", `${customer}/temporary?expires_at=2001-01-01T00:00:00Z`),
  ...get(200, customer, feature),
  ...get(400, `/features/customer/${"4".repeat(257)}`),
  ...get(304, customer).map(notModified),

  withHeader(send(200, "PUT", "/features/customer/44", ["dark-mode"]), "if-match", "*"),
  withHeader(send(412, "PUT", "/features/customer/44", ["dark-mode"]), "if-match", '"other"'),
  send(428, "PUT", "/features/customer/44", ["dark-mode"]),
  send(204, "DELETE", "/features/customer/44/dark-mode"),
  send(204, "DELETE", "/features/customer/44"),

  send(200, "POST", "/changes", {
    changes: [
      { type: "add", ...otherCustomer, feature: "dark-mode" },
      { type: "add", ...otherCustomer, feature: "temporary", expires_at: "9999-01-01T00:00:00Z" },
      { type: "remove", ...otherCustomer, feature: "absent" },
    ],
  }),
  send(400, "POST", "/changes", {
    changes: [{ type: "add", ...otherCustomer, feature: "expired", expires_at: "2001-01-01T00:00:00Z" }],
  }),
  send(200, "POST", "/query", { resources: [otherCustomer], features: ["dark-mode", "absent"] }),

  ...get(200, "/features?resource=customer", "/features?resource=customer&limit=1"),
  ...get(200, "/features?resource=customer&cursor=WyJkYXJrLW1vZGUiLCI0MiJd"),
  ...get(400, "/features", "/features?resource=customer&cursor=other"),
  ...get(
    200,
    "/features/customer?feature=dark-mode",
    "/features/customer?feature=dark-mode&limit=1",
    "/features/customer?feature=dark-mode&limit=1&cursor=NDI",
  ),
  ...get(
    200,
    "/features/customer?feature=dark-mode&count=true",
    "/features/customer?feature=dark-mode&count=false",
  ),
  ...get(200, customer, feature, "/features/customer?feature=dark-mode").map(atAnInstant),
  ...get(400, "/features/customer"),
  ...get(304, "/features/customer?feature=dark-mode").map(notModified),

  send(200, "POST", flag, { context }),
  send(200, "POST", flag, { context: { resource: "customer", id: "unknown", plan: "gold" } }),
  send(400, "POST", flag, {}),
  send(400, "POST", flag, { context: { targetingKey: "unknown" } }),
  send(200, "POST", flags, { context }),
  send(200, "POST", `${flags}?flagConfigEtag=%22550e8400%22&flagConfigLastModified=1771622898`, { context }),
  send(400, "POST", flags, {}),
  send(400, "POST", flags, { context: { targetingKey: "unknown" } }),
  notModified(send(304, "POST", flags, { context })),
  ...get(200, "/ofrep/v1/events?resource=customer&id=42"),
  ...get(400, "/ofrep/v1/events?resource=customer", "/ofrep/v1/events?id=42"),

  ...get(
    200,
    "/resources/customer/43",
    "/resources/customer/44/changes",
    "/resources/customer/45/changes",
    "/resources/customer/45/changes?limit=1",
  ),
  ...get(410, "/resources/customer/45/changes?cursor=other-1"),

  ...get(200, "/changes", "/changes?limit=2", "/changes?cursor=newest"),
  ...get(410, "/changes?cursor=other-1"),
  ...get(200, "/changes").map((request) => withHeader(request, "last-event-id", "newest")),
  ...get(410, "/changes").map((request) => withHeader(request, "last-event-id", "other-1")),
  ...["application/x-ndjson", "text/event-stream"].flatMap((type) =>
    get(200, "/changes").map((request) => withHeader(request, "accept", type)),
  ),
];
