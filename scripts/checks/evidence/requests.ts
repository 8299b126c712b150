import { resourceTypes } from "../../../src/ledger/tables/event.ts";
import {
  addedEvent,
  featureSamples,
  ledgerSamples,
  march,
  type Request,
  type Sample,
} from "../../../testing/requests.ts";

/** A request and its expected status. */
export interface RequestCase extends Request {
  status: number;
}

const get = (status: number, ...paths: string[]): RequestCase[] =>
  paths.map((path) => ({ status, method: "GET", path }));

/** The sample with each of these queries added. A last value `a|b` stands for two queries. */
const withQueries = (sample: RequestCase, queries: string[]): RequestCase[] =>
  queries.flatMap((query) => {
    const [, start = "", values = ""] = /^(.*=)(.*)$/.exec(query) ?? [];
    const and = sample.path.includes("?") ? "&" : "?";
    return values.split("|").map((value) => ({ ...sample, path: sample.path + and + start + value }));
  });

const cursor = (...members: unknown[]) =>
  `cursor=${Buffer.from(JSON.stringify(members)).toString("base64url")}`;

const of = ledgerSamples;
const override = "override_account_id_restriction=true";
const allAgreements = "override_account_or_service_id_restriction=true";
const afterMidnight = "as_of=2024-03-05T00:30:00Z";
/** All years of the data, as instants and as days. */
const instants = "from_date=2018-01-01T00:00:00Z&to_date=2025-01-01T00:00:00Z";
const days = "from_date=2018-01-01&to_date=2025-01-01";

const types = "transaction_type=PAYMENT|REFUND|DISPUTE|payment|refund|dispute";
const versions = "status_version=1|2";
const firstStates =
  "status_version=1&state=undefined|created|started|submitted|capturable|success|failed|cancelled|error";
const secondStates = "status_version=2&state=declined|timedout|needs_response|under_review|lost|won";
/** The states as they are stored. */
const storedStates = `state=${[
  ...["UNDEFINED", "CREATED", "STARTED", "SUBMITTED", "CAPTURABLE", "SUCCESS"],
  ...["FAILED_REJECTED", "FAILED_EXPIRED", "FAILED_CANCELLED", "CANCELLED", "ERROR", "ERROR_GATEWAY"],
  ...["NEEDS_RESPONSE", "UNDER_REVIEW", "LOST", "WON"],
].join("|")}`;
const statesByType = [
  "payment_states=created,success",
  "refund_states=submitted",
  "dispute_states=needs_response",
];
const noOverride = "override_account_id_restriction=false";

/** Queries that succeed, in addition to that of the sample. */
const ledgerQueries: Partial<Record<keyof typeof ledgerSamples, string[]>> = {
  listEvents: [
    ...["limit=1", "cursor=newest", cursor("0", "0", "2024-03-05T00:30:00.000000Z")],
    "event_types=PAYMENT_CREATED&event_types=REFUND_SUCCEEDED",
    `resource_types=${resourceTypes.join("|")}`,
  ],
  listTickerEvents: [
    "event_types=PAYMENT_CREATED&event_types=REFUND_SUCCEEDED",
    cursor("2024-03-05T00:30:00.000000Z", "999999"),
  ],
  getTransaction: [noOverride, afterMidnight, "transaction_type=PAYMENT|payment"],
  searchTransactions: [
    ...[noOverride, firstStates, secondStates, types, ...statesByType],
    ...["from_date=2024-03-01T00:00:00Z&to_date=2024-04-01T00:00:00Z", "email=ANGLER", "reference=lic"],
    ...["reference=lic-88&exact_reference_match=true", "reference=lic&exact_reference_match=false"],
    ...["cardholder_name=angler", "first_digits_card_number=424242", "last_digits_card_number=4242"],
    ...["card_brands=visa", "gateway_payout_id=po_44", "gateway_transaction_id=gtx-1", "agreement_id=agr-1"],
    ...["from_settled_date=2024-03-11&to_settled_date=2024-03-11", "metadata_value=north"],
    ...["limit_total=true&limit_total_size=5001", "limit_total=false", "format=json|csv"],
    ...["page=2&display_size=3", cursor("2024-03-05T00:00:00.000000Z", "full", "999", 2, 1)],
    ...["fee_headers=true|false", "moto_header=true|false", "reference=no-such-thing"],
  ],
  listTransactionEvents: [
    ...["include_all_events=true", afterMidnight],
    cursor("2024-03-05T00:00:00.000000Z", "A", "payment", "full"),
  ],
  listChildTransactions: [types, cursor("2024-03-05T00:00:00.000000Z", "full")],
  getTransactionReport: [
    ...[noOverride, firstStates, secondStates, types, ...statesByType],
    "group_by=account,type,state,day,week,month,live,moto",
    ...[`group_by=month&time_zone=UTC&${march}`, "group_by=month&time_zone=Europe/London"],
    ...["group_by=state&display_size=2", `group_by=state&display_size=2&${cursor("cancelled")}`],
    "group_by=state&format=json|csv",
  ],
  getTransactionsSummary: [noOverride, "include_moto_statistics=true|false"],
  getPaymentsByState: [`${noOverride}&${march}`],
  listTransactionsByHour: [cursor("2024-03-05T00:00:00.000000Z")],
  getPerformanceReport: ["from_date=2024-03-01&to_date=2024-03-31", storedStates],
  getLegacyPerformanceReport: [march, storedStates],
  listGatewayPerformance: [cursor("57", "2024-02-01")],
  searchPayouts: [noOverride, "page=2&display_size=1", "state=undefined|intransit|paidout|failed"],
  getPayout: [noOverride],
  searchAgreements: [
    "reference=permit&exact_reference_match=false&live=true",
    "reference=permit-7&exact_reference_match=true&live=false",
  ],
  getAgreement: ["as_of=2024-03-05T01:30:00Z"],
  listAgreementEvents: ["as_of=2024-03-05T01:30:00Z"],
  listDeadLetters: ["state=open|discarded", "display_size=2", cursor("1003")],
};

const named = (type: string, ...names: string[]) => [type, ...names.map((name) => `${type}-${name}`)];
/** Payments, refunds and disputes of every state and with every value of a member. */
const transactions = [
  ...["minimal", "without-state", "started", "submitted", "capturable", "declined", "timedout"],
  ...["cancelled-by-user", "cancelled", "error", "exemption-requested"],
  ...named("refund", "minimal", "failed", "without-parent", "of-minimal"),
  ...named("dispute", "minimal", "evidence-submitted", "won", "without-parent", "of-minimal"),
].map((id) => `/v1/transaction/${id}?account_id=57`);

const withAccept = (sample: Sample, ...types: string[]) =>
  types.map((accept) => ({ ...sample, headers: { accept } }));
const post = (status: number, body: unknown): RequestCase => ({ ...of.addEvents, status, body });

const allQueries = <Id extends string>(
  samples: Record<Id, Sample>,
  queries: Partial<Record<Id, string[]>>,
): RequestCase[] =>
  Object.entries(samples).flatMap(([id, sample]) => [
    sample as Sample,
    ...withQueries(sample as Sample, queries[id as Id] ?? []),
  ]);

/**
 * Together with the messages these cover every parameter and every value of a response. observe.ts adds the requests that
 * every operation must reject.
 */
export const ledgerRequests: RequestCase[] = [
  ...allQueries(ledgerSamples, ledgerQueries),

  ...get(200, "/v1/event", "/v1/event?account_id=57,58", ...range(1, 60).map((id) => `/v1/event/${id}`)),
  ...get(404, "/v1/event/999999", "/v1/event/99999999999999999999"),
  ...get(400, "/v1/event/first", "/v1/event?cursor=x"),
  ...get(410, `/v1/event?${cursor("0", "999999", "2024-03-05T00:30:00.000000Z")}`),
  ...withAccept(of.listEvents, "application/x-ndjson", "text/event-stream"),
  { ...of.listEvents, headers: { "last-event-id": "newest" } },
  { ...of.listEvents, headers: { "last-event-id": "x" }, status: 400 },
  ...get(400, "/v1/event/ticker?to_date=2024-04-01T00:00:00Z", `/v1/event/ticker?${march}&cursor=x`),
  ...get(400, "/v1/event/ticker?from_date=2024-03-01T00:00:00Z"),

  ...get(200, ...transactions, "/v1/transaction/refund?account_id=57&parent_external_id=full"),
  ...["", "refund-", "dispute-"].flatMap((prefix) =>
    get(200, `/v1/transaction/${prefix}without-account?${override}`),
  ),
  ...["REFUND", "refund", "DISPUTE", "dispute"].flatMap((type) =>
    get(200, `/v1/transaction/${type.toLowerCase()}?account_id=57&transaction_type=${type}`),
  ),
  ...withQueries({ ...of.getTransaction, path: "/v1/transaction/declined?account_id=57" }, [versions]),
  ...get(404, "/v1/transaction/unknown?account_id=57", "/v1/transaction/full?account_id=58"),
  ...get(404, "/v1/transaction/gateway-transaction?gateway_transaction_id=gtx-0&payment_provider=sandbox"),
  ...get(400, "/v1/transaction/full", "/v1/transaction/gateway-transaction?gateway_transaction_id=gtx-1"),
  ...get(400, "/v1/transaction/gateway-transaction?payment_provider=sandbox"),

  ...get(200, `/v1/transaction/?${override}`, "/v1/transaction/?account_id=57,58"),
  ...get(404, "/v1/transaction/?account_id=57&page=99"),
  ...get(400, "/v1/transaction/", "/v1/transaction/?account_id="),
  ...[of.searchTransactions, of.getTransactionReport].flatMap((sample) => withAccept(sample, "text/csv")),

  ...withQueries(
    { ...of.listTransactionEvents, path: "/v1/transaction/declined/event?gateway_account_id=57" },
    ["status_version=1&include_all_events=false", "status_version=2"],
  ),
  ...get(
    200,
    "/v1/transaction/without-state/event?gateway_account_id=57",
    "/v1/transaction/without-state/event?gateway_account_id=57&include_all_events=true",
    "/v1/transaction/large/event?gateway_account_id=58",
    "/v1/transaction/large/transaction?gateway_account_id=58",
  ),
  ...["event", "transaction"].flatMap((collection) => [
    ...get(404, `/v1/transaction/unknown/${collection}?gateway_account_id=57`),
    ...get(400, `/v1/transaction/full/${collection}`),
  ]),

  ...get(200, `/v1/report/transactions?${override}&${march}&group_by=account,live,moto`),
  ...get(400, "/v1/report/transactions", "/v1/report/transactions?account_id=57&group_by=type&cursor=x"),
  ...get(
    200,
    `/v1/report/transactions-summary?${override}&override_from_date_validation=true`,
    `/v1/report/transactions-summary?${override}&${march}&override_from_date_validation=false`,
    `/v1/report/payments_by_state?${override}&include_moto_statistics=true`,
    `/v1/report/payments_by_state?${override}&include_moto_statistics=false`,
    `/v1/report/transactions-by-hour?${instants}`,
    `/v1/report/gateway-performance-report?${days}`,
  ),
  ...["transactions-by-hour", "gateway-performance-report"].flatMap((report) =>
    get(400, `/v1/report/${report}?from_date=2024-03-01`, `/v1/report/${report}?to_date=2024-03-01`),
  ),

  ...get(200, "/v1/payout?gateway_account_id=57,58", `/v1/payout?${override}`),
  ...get(200, "/v1/payout?gateway_account_id=unknown", `/v1/payout/payout-without-account?${override}`),
  ...get(404, "/v1/payout?gateway_account_id=57&page=99", "/v1/payout/unknown?gateway_account_id=57"),

  ...get(200, "/v1/agreement?account_id=unknown"),
  ...withQueries({ ...of.searchAgreements, path: `/v1/agreement?${allAgreements}` }, [
    "status=UNDEFINED|CREATED|ACTIVE|INACTIVE|CANCELLED|active",
    "page=2&display_size=1",
    cursor("2024-03-06T00:00:00.000000Z", "agr", "999999", 2, 9),
  ]),
  ...["created", "active", "inactive", "undefined", "large"].flatMap((name) =>
    get(200, `/v1/agreement/agr-${name}?${allAgreements}`),
  ),
  ...["true", "false"].map((value) => ({ ...of.getAgreement, headers: { "x-consistent": value } })),
  ...get(
    200,
    "/v1/agreement?service_id=svc91b27&service_id=other&override_account_or_service_id_restriction=false",
    "/v1/agreement/agr-1?service_id=svc91b27&override_account_or_service_id_restriction=false",
    "/v1/agreement/agr-1/event",
    "/v1/agreement/agr-1/event?service_id=svc91b27",
    "/v1/agreement/agr-large/event",
    `/v1/agreement/agr-1/event?${cursor("2024-03-05T00:00:00.000000Z", "A", "agreement", "agr-1")}`,
  ),
  ...get(404, "/v1/agreement?account_id=57&page=99", "/v1/agreement/unknown?account_id=57"),
  ...get(404, "/v1/agreement/unknown/event"),

  ...get(200, ...range(1001, 1005).map((id) => `/v1/dead-letter/${id}`)),
  ...get(404, "/v1/dead-letter/999999", "/v1/dead-letter/99999999999999999999"),
  ...get(400, "/v1/dead-letter?state=lost", "/v1/dead-letter?cursor=x", "/v1/dead-letter/first"),

  post(202, [addedEvent, { ...addedEvent, reproject_domain_object: true }]),
  post(202, []),
  post(400, { ...addedEvent, timestamp: "noon" }),
];

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const features = featureSamples;
const other = { resource: "customer", id: "43" };
const atAnInstant = "as_of=2026-01-01T00:00:00Z";

export const featuresRequests: RequestCase[] = [
  ...allQueries(features, {
    listFeatures: [atAnInstant],
    hasFeature: [atAnInstant],
    listResources: [atAnInstant, "limit=1", "limit=1&cursor=NDI", "count=true|false"],
    listEntries: ["limit=1", "cursor=WyJkYXJrLW1vZGUiLCI0MiJd"],
    listResourceChanges: ["limit=1"],
    listChanges: ["limit=2", "cursor=newest"],
    evaluateFlags: ["flagConfigEtag=%22550e8400%22&flagConfigLastModified=1771622898"],
  }),
  { ...features.addFeature, status: 200 },
  { ...features.addFeature, path: "/features/customer/42/temporary?expires_at=9999-01-01T00:00:00Z" },
  ...get(400, `/features/customer/${"4".repeat(257)}`, "/features", "/features/customer"),
  ...get(400, "/features?resource=customer&cursor=other"),
  ...get(400, "/ofrep/v1/events?resource=customer", "/ofrep/v1/events?id=42"),
  ...[features.listFeatures, features.listResources, features.evaluateFlags].map((sample) => ({
    ...sample,
    status: 304,
    headers: { "if-none-match": "*" },
  })),
  { ...features.replaceFeatures, status: 412, headers: { "if-match": '"other"' } },
  { ...features.replaceFeatures, status: 428, headers: {} },
  {
    ...features.changeFeatures,
    body: {
      changes: [
        { type: "add", ...other, feature: "temporary", expires_at: "9999-01-01T00:00:00Z" },
        { type: "remove", ...other, feature: "absent" },
      ],
    },
  },
  { ...features.hasFeatures, body: { resources: [other], features: ["temporary", "absent"] } },
  {
    ...features.evaluateFlag,
    body: { context: { resource: "customer", id: "unknown", plan: "gold" } },
  },
  ...[features.evaluateFlag, features.evaluateFlags].flatMap((sample) =>
    [{}, { context: { targetingKey: "unknown" } }].map((body) => ({ ...sample, status: 400, body })),
  ),
  ...get(200, "/resources/customer/43", "/resources/customer/45/changes"),
  ...get(410, "/resources/customer/45/changes?cursor=other-1", "/changes?cursor=other-1"),
  { ...features.listChanges, headers: { "last-event-id": "newest" } },
  { ...features.listChanges, status: 410, headers: { "last-event-id": "other-1" } },
  ...withAccept(features.listChanges, "application/x-ndjson", "text/event-stream"),
];
