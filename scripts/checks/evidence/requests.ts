import {
  type Contract,
  follow,
  type Operation,
  operationsOf,
  type Parameter,
} from "../../../src/contract/operations.ts";
import { featuresService } from "../../../src/features/app.ts";
import { ledgerService } from "../../../src/ledger/app.ts";
import { openCursors } from "../../../src/ledger/requests/cursor.ts";
import { resourceTypes } from "../../../src/ledger/tables/event.ts";
import { feedStart } from "../../../src/ledger/tables/feed/feed.ts";
import {
  addedEvent,
  featureSamples,
  ledgerSamples,
  march,
  type Request,
  type Sample,
} from "../../../testing/requests.ts";
import { parameterValue } from "./uncovered.ts";

/** A request and its expected status. Default: any declared status. */
export interface RequestCase extends Request {
  status?: number | undefined;
}

const get = (status: number, ...paths: string[]): RequestCase[] =>
  paths.map((path) => ({ status, method: "GET", path }));

/** The key of the ledger to which the requests are sent. */
export const cursorKey = new Uint8Array(32);
const cursors = openCursors(cursorKey);
const instant = "2024-03-05T00:30:00.000000Z";
const lostEvent = cursors.feed.write({ sql_transaction: 0n, event_id: 999_999n, timestamp: instant });
const groupOf = (...columns: string[]) =>
  cursors.group.write({ columns, values: columns.map(() => "cancelled") });

const of = ledgerSamples;
const override = "override_account_id_restriction=true";
const allAgreements = "override_account_or_service_id_restriction=true";

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

const states =
  "undefined created started submitted capturable success failed declined timedout cancelled error needs_response under_review lost won";
/** The states as they are stored. */
const storedStates = `UNDEFINED CREATED STARTED SUBMITTED CAPTURABLE SUCCESS FAILED_REJECTED FAILED_EXPIRED FAILED_CANCELLED
  CANCELLED ERROR ERROR_GATEWAY NEEDS_RESPONSE UNDER_REVIEW LOST WON`;
/** The values of parameters with an enum. One that only the contract has is not sent, and so not covered. */
const values: Record<string, string> = {
  resource_types: resourceTypes.join(" "),
  transaction_type: "PAYMENT REFUND DISPUTE payment refund dispute",
  status_version: "1 2",
  ...{ payment_states: states, refund_states: states, dispute_states: states, state: states },
  group_by: "account type state day week month live moto",
  time_zone: "UTC Europe/London Asia/Kolkata",
  format: "json csv",
  separator: "comma semicolon tab",
  "getPerformanceReport state": storedStates,
  "getLegacyPerformanceReport state": storedStates,
  "searchPayouts state": "undefined intransit paidout failed",
  "searchAgreements status": "UNDEFINED CREATED ACTIVE INACTIVE CANCELLED active",
  "listDeadLetters state": "open discarded",
};
/** Values that are right, and that the payment of the samples has not, or not in each version of the states. */
const rareValues = ["failed", "REFUND", "DISPUTE", "refund", "dispute"];

/**
 * The samples. Each also without every required parameter, and with every other one: with its example, which may be of
 * something that is not there, with true and false, with each of its values, and as a condition that any version meets.
 */
const withParameters = (contract: Contract, samples: Record<string, Sample>): RequestCase[] =>
  operationsOf(contract).flatMap(({ operationId, parameters, responses }, _, operations) => {
    const sample = samples[operationId] as Sample;
    const query = operations.find(({ method, queryOf }) => method === "QUERY" && queryOf === operationId);
    const withAnyStatus: RequestCase = { ...sample, status: undefined };
    const shown = (parameters as ShownParameter[]).filter(({ in: place }) => place !== "path");
    const variants = shown.flatMap((parameter) => {
      const { type } = follow(contract, parameter.schema) as { type?: string };
      const known = values[`${operationId} ${parameter.name}`] ?? values[parameter.name] ?? "";
      const allowed = type === "boolean" ? ["true", "false"] : known.split(/\s+/).filter(Boolean);
      return [
        ...(parameter.required
          ? [withParameter({ ...sample, status: missingStatus(parameter) }, parameter)]
          : []),
        ...(parameter.example === undefined
          ? []
          : [withParameter(withAnyStatus, parameter, parameter.example)]),
        ...allowed.map((value) =>
          withParameter(rareValues.includes(value) ? withAnyStatus : sample, parameter, value),
        ),
      ];
    });
    const unchanged = { ...sample, status: 304, headers: { "if-none-match": "*" } };
    const all = [sample, ...(responses[304] ? [unchanged] : []), ...variants];
    return query && sample.method === "GET"
      ? [...all, ...all.map((one) => asQuery(contract, query, one))]
      : all;
  });

/** A request with query parameters as the one with the method QUERY that has them in its body. */
function asQuery(contract: Contract, { body }: Operation, request: RequestCase): RequestCase {
  const [path = "", search] = request.path.split("?");
  const { properties } = (body as { schema: { properties: Record<string, unknown> } }).schema;
  const given = [...new URLSearchParams(search)].filter(([name]) => Object.hasOwn(properties, name));
  const members = given.map(([name, text]) => [name, parameterValue(contract, properties[name], text)]);
  return { ...request, method: "QUERY", path, body: Object.fromEntries(members) };
}

type ShownParameter = Parameter & { example?: unknown };

/** The only required header is a condition. */
const missingStatus = ({ in: place }: Parameter) => (place === "header" ? 428 : 400);

/** The request with this value of a parameter, or without one. */
function withParameter(request: RequestCase, { name, in: place }: Parameter, value?: unknown): RequestCase {
  if (place === "header")
    return {
      ...request,
      headers: value === undefined ? {} : { ...request.headers, [name.toLowerCase()]: String(value) },
    };
  const [path, query] = request.path.split("?");
  const search = new URLSearchParams(query);
  if (value === undefined) search.delete(name);
  else search.set(name, String(value));
  return { ...request, path: `${path}?${search}` };
}

const page = { created_date: instant, external_id: "x", arrived: "1", page: 2, total: 3, random: "x" };
const event = {
  timestamp: instant,
  event_type: "X",
  resource_type: "payment",
  resource_external_id: "x",
} as const;
/** A cursor for each operation that has one. Those in the contract are of another ledger. */
const withCursors: RequestCase[] = (
  [
    [of.searchTransactions, cursors.page.write(page)],
    [of.searchAgreements, cursors.page.write(page)],
    [of.listTransactionEvents, cursors.event.write(event)],
    [of.listAgreementEvents, cursors.event.write(event)],
    [of.listChildTransactions, cursors.child.write({ created_date: instant, external_id: "x" })],
    [of.listGatewayPerformance, groupOf("account", "month")],
    [of.listTransactionsByHour, cursors.hour.write({ hour: instant })],
    [of.listTickerEvents, cursors.ticker.write({ timestamp: instant, id: 1n })],
    [of.listDeadLetters, cursors.deadLetter.write({ dead_letter_id: 1n })],
    [of.listEvents, cursors.feed.write(feedStart)],
    [of.listAccessRecords, cursors.access.write({ id: 0n })],
    [of.listTransactionReportChanges, cursors.change.write({ sql_transaction: 1n, external_id: "x" })],
  ] as const
).map(([sample, cursor]) =>
  withParameter({ ...sample, status: 200 }, { name: "cursor", in: "query", schema: {} }, cursor),
);

/** Every operation that can demand a position, with one that each ledger includes. */
const withPositions: RequestCase[] = operationsOf(ledgerService.contract)
  .filter(({ parameters }) => parameters.some(({ name }) => name === "at_least"))
  .map(({ operationId }) =>
    withParameter(
      { ...(of[operationId as keyof typeof of] as Sample), status: 200 },
      { name: "at_least", in: "query", schema: {} },
      cursors.feed.write(feedStart),
    ),
  );

/**
 * Together with the messages these cover every parameter and every value of a response. observe.ts adds the requests that
 * every operation must reject.
 */
export const ledgerRequests: RequestCase[] = [
  ...withParameters(ledgerService.contract, ledgerSamples),
  ...withCursors,
  ...withPositions,
  { ...of.queryTransactions, body: { account_id: ["57"], at_least: cursors.feed.write(feedStart) } },
  { ...of.listEvents, status: 200, headers: { "last-event-id": cursors.feed.write(feedStart) } },

  ...get(200, ...range(1, 60).map((id) => `/v1/event/${id}`)),
  ...get(200, "/v1/event"),
  ...get(404, "/v1/event/999999"),
  ...get(410, `/v1/event?cursor=${lostEvent}`),
  ...withAccept(of.listEvents, "application/x-ndjson", "text/event-stream"),
  ...get(200, "/v1/audit?limit=1"),
  ...withAccept(of.listAccessRecords, "text/event-stream"),
  {
    ...{ ...of.listAccessRecords, status: 200 },
    headers: { "last-event-id": cursors.access.write({ id: 0n }) },
  },

  ...get(200, ...transactions, "/v1/transaction/refund?account_id=57&parent_external_id=full"),
  ...get(200, `/v1/transaction/?${override}`),
  ...["", "refund-", "dispute-"].flatMap((prefix) =>
    get(200, `/v1/transaction/${prefix}without-account?${override}`),
  ),
  ...get(404, "/v1/transaction/unknown?account_id=57"),
  ...get(404, "/v1/transaction/gateway-transaction?gateway_transaction_id=gtx-0&payment_provider=sandbox"),

  ...get(200, "/v1/transaction/?account_id=57&status_version=1&state=failed"),
  ...get(404, "/v1/transaction/?account_id=57&page=99"),
  { ...of.queryTransactions, status: 404, body: { account_id: ["57"], page: 99 } },
  {
    ...of.queryTransactions,
    body: { override_account_id_restriction: true, cursor: cursors.page.write(page) },
  },
  ...[of.searchTransactions, of.queryTransactions, of.getTransactionReport].flatMap((sample) =>
    withAccept(sample, "text/csv"),
  ),

  ...get(
    200,
    "/v1/transaction/without-state/event?gateway_account_id=57&include_all_events=true",
    "/v1/transaction/large/event?gateway_account_id=58&extended=true",
    "/v1/transaction/large/transaction?gateway_account_id=58&extended=true",
    "/v1/transaction/?account_id=57&display_size=1&extended=true",
  ),
  ...["event", "transaction"].flatMap((collection) =>
    get(404, `/v1/transaction/unknown/${collection}?gateway_account_id=57`),
  ),

  ...get(
    200,
    `/v1/report/transactions/changes?${override}&${march}&group_by=account`,
    // Its payment has no event.
    "/v1/report/transactions/changes?account_id=many1",
  ),
  ...get(200, `/v1/report/transactions?${override}&${march}&group_by=account,live,moto`),
  ...get(200, "/v1/report/transactions?account_id=57&group_by=state&display_size=2"),
  ...get(200, `/v1/report/transactions?account_id=57&group_by=state&cursor=${groupOf("state")}`),
  ...get(200, `/v1/report/transactions-summary?${override}&override_from_date_validation=true`),
  ...get(200, `/v1/report/payments_by_state?${override}`),
  ...get(200, "/v1/report/performance-report?from_date=2024-03-01&to_date=2024-03-31"),
  ...get(200, `/v1/report/performance-report-legacy?${march}`),
  // All years of the data, as instants and as days.
  ...get(
    200,
    "/v1/report/transactions-by-hour?from_date=2018-01-01T00:00:00Z&to_date=2025-01-01T00:00:00Z",
    "/v1/report/gateway-performance-report?from_date=2018-01-01&to_date=2025-01-01",
  ),

  ...get(200, "/v1/payout?gateway_account_id=57&page=2&display_size=1", `/v1/payout?${override}`),
  ...get(200, "/v1/payout?gateway_account_id=unknown", `/v1/payout/payout-without-account?${override}`),
  ...get(404, "/v1/payout?gateway_account_id=57&page=99", "/v1/payout/unknown?gateway_account_id=57"),

  ...get(200, "/v1/agreement?account_id=unknown", `/v1/agreement?${allAgreements}&page=2&display_size=1`),
  ...["created", "active", "inactive", "undefined", "large"].flatMap((name) =>
    get(200, `/v1/agreement/agr-${name}?${allAgreements}`),
  ),
  ...get(200, "/v1/agreement/agr-1?service_id=svc91b27", "/v1/agreement/agr-1/event?service_id=svc91b27"),
  ...get(200, "/v1/agreement/agr-large/event?extended=true"),
  ...get(404, "/v1/agreement?account_id=57&page=99", "/v1/agreement/unknown?account_id=57"),
  ...get(404, "/v1/agreement/unknown/event"),

  ...get(200, "/v1/dead-letter?display_size=2", ...range(1001, 1005).map((id) => `/v1/dead-letter/${id}`)),
  ...get(404, "/v1/dead-letter/999999"),

  post(202, [addedEvent, { ...addedEvent, reproject_domain_object: true }]),
  post(202, []),
  post(400, { ...addedEvent, timestamp: "noon" }),
  ...get(400, "/v1/transaction/?acount_id=57", "/v1/transaction/?account_id=57&transaction_type=paymnt"),
];

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const features = featureSamples;
const other = { resource: "customer", id: "43" };

export const featuresRequests: RequestCase[] = [
  ...withParameters(featuresService.contract, featureSamples),
  { ...features.addFeature, status: 200 },
  ...get(200, "/features/customer?feature=dark-mode&limit=1", "/features?resource=customer&limit=1"),
  ...get(200, "/resources?limit=1", "/resources/customer?limit=1"),
  ...get(200, "/changes?cursor=newest", "/resources/customer/42/changes?limit=1"),
  { ...features.replaceFeatures, status: 412, headers: { "if-match": '"other"' } },
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
  ...get(400, "/features/customer?featrue=dark-mode", "/changes?limit=1000000"),
  {
    ...features.hasFeatures,
    status: 400,
    body: { resources: [other], features: ["temporary"], colour: "red" },
  },
  ...get(200, "/resources/customer/43", "/resources/customer/45/changes"),
  ...get(410, "/resources/customer/45/changes?cursor=other-1", "/changes?cursor=other-1"),
  { ...features.listChanges, headers: { "last-event-id": "newest" } },
  ...withAccept(features.listChanges, "application/x-ndjson", "text/event-stream"),
];
