import { parse } from "csv-parse/sync";
import type { Random } from "../../testing/random.ts";
import {
  accounts,
  agreementId,
  brands,
  disputeId,
  earliest,
  emails,
  metadataTexts,
  midnights,
  names,
  paymentId,
  payoutId,
  payoutMax,
  references,
  refundId,
  timestampAt,
  timeZones,
} from "./messages.ts";
import { type Oracle, type Query, transactionStates } from "./oracle.ts";
import * as agreements from "./oracle-agreements.ts";
import * as reports from "./oracle-reports.ts";
import type { Publisher } from "./publisher.ts";

/** Sends a GET request and resolves with the response, whatever its status. */
export type Get = (path: string, accept?: string) => Promise<{ status: number; text: string }>;

/** One or more requests that read from a ledger, with the expected result. */
export interface Read {
  /** The path of the first request. */
  name: string;
  /** The transactions that the path names. */
  ids: string[];
  /** Sends the requests. The result leaves out values that the ledger assigns itself. */
  send(get: Get): Promise<Result>;
  expected(oracle: Oracle): Result;
  /** Describes a violation that does not depend on the stored events. */
  violation?(result: Result): string | undefined;
  /** A number that must never decrease from one result to the next. */
  count?(result: Result): number;
}

/** The part of the responses that is compared. For a status other than 200 it is the status alone. */
interface Result {
  status: number;
  body?: unknown;
}

/** Makes one of these reads, with a probability in proportion to its weight. */
function oneOf(random: Random, reads: [weight: number, make: () => Read][]): Read {
  const all = reads.flatMap(([weight, make]) => Array<() => Read>(weight).fill(make));
  return random.pick(all)();
}

/** A random read about one of the first payments or about none. */
export function randomRead(random: Random, payments: number): Read {
  const id = randomId(random, payments);
  return oneOf(random, [
    [16, () => lookup(id, { ...randomAccount(random), ...some(random, 0.25, ofLookup) })],
    [10, () => eventList(id, random.pick(accounts), some(random, 0.4, ["include_all_events", ...ofView]))],
    [6, () => children(id, random.pick(accounts), some(random, 0.3, ["transaction_type"]))],
    [16, () => page("transaction", randomSearch(random), random.pick([1, 1, 1, 2, 5]), randomSize(random))],
    [4, () => allPages("transaction", randomSearch(random), random.pick([3, 50, 500]), randomLink(random))],
    [4, () => csv({ ...randomSearch(random, 0), ...some(random, 0.5, ofCsv) })],
    [25, () => randomReportRead(random)],
    [12, () => randomAgreementRead(random, agreementId(random.integer(0, payments)))],
  ]);
}

/** A random read of a report or of payouts. */
export function randomReportRead(random: Random): Read {
  const columns = random.pick(["type,state", "live,moto,account"]);
  const summarised: Name[] = ["from_date", "to_date", "include_moto_statistics"];
  const ofPayout = random.chance(0.5) ? { gateway_account_id: random.pick(accounts) } : override;
  return oneOf(random, [
    [1, () => reportPage({ ...override, ...(random.chance(0.5) && { group_by: "type,state" }) })],
    [5, () => reportPage(randomReport(random), random.pick([undefined, 1, 7, 600]))],
    [1, () => reportPages(randomReport(random), 90)],
    [1, () => reportPages({ ...randomReport(random), group_by: columns }, 4)],
    [1, () => reportCsv(randomReport(random))],
    [2, () => transactionsSummary({ ...randomAccount(random), ...some(random, 0.5, summarised) })],
    [2, () => paymentsByState({ ...randomAccount(random), ...some(random, 0.4, ["from_date", "to_date"]) })],
    [2, () => randomPerformance(random)],
    [2, () => page("payout", randomPayouts(random), random.pick([1, 1, 2]), randomSize(random))],
    [3, () => payout(payoutId(random.pick(accounts), random.integer(0, payoutMax)), ofPayout)],
  ]);
}

function randomAgreementRead(random: Random, id: string): Read {
  const query = {
    ...random.pick<Query>([{ account_id: random.sample(accounts, 0.5).join() || "57" }, randomOwner(random)]),
    ...some(random, 0.3, ["status", "reference", "exact_reference_match", "live"]),
  };
  const service: Query = random.chance(0.5) ? { service_id: `service-${random.integer(1, 3)}` } : {};
  return oneOf(random, [
    [8, () => agreement(id, { ...randomOwner(random), ...some(random, 0.2, ["as_of"]) })],
    [4, () => agreementEvents(id, { ...service, ...some(random, 0.2, ["as_of"]) })],
    [5, () => page("agreement", query, random.pick([1, 1, 2]), randomSize(random))],
    [3, () => allPages("agreement", query, random.pick([3, 20]), randomLink(random))],
  ]);
}

const override = { override_account_id_restriction: "true" };
const overrideBoth = { override_account_or_service_id_restriction: "true" };

const randomLink = (random: Random): Link => random.pick(["next_page", "next_cursor"]);
const randomSize = (random: Random) => random.pick([1, 7, 100, 600]);

const randomId = (random: Random, payments: number): string => {
  const number = random.integer(0, payments);
  const payment = paymentId(number);
  return random.pick([payment, payment, refundId(number, random.integer(0, 2)), disputeId(number)]);
};

const randomAccount = (random: Random): Query =>
  random.chance(0.7) ? { account_id: random.pick([...accounts, "nobody"]) } : override;

const randomOwner = (random: Random): Query => {
  const [account_id, service_id] = [random.pick(accounts), `service-${random.integer(1, 3)}`];
  return random.pick<Query>([{ account_id }, { service_id }, { account_id, service_id }, overrideBoth]);
};

const randomDate = (random: Random) =>
  random.chance(0.3)
    ? new Date(Date.parse(random.pick(midnights)) + random.pick([-1, 0, 1, 1_800_000])).toISOString()
    : `${timestampAt(earliest + random.integer(0, 4000) * 60_000_000).slice(0, 23)}Z`;
const randomDay = (random: Random) => `2024-03-${String(random.integer(5, 26)).padStart(2, "0")}`;

const isTrue = () => "true";
/** Random values of the parameters that select and show rows. */
const values = {
  from_date: randomDate,
  to_date: randomDate,
  from_settled_date: randomDay,
  to_settled_date: randomDay,
  email: (random) => random.pick([...emails, "EXAMPLE", "@", "%"]),
  reference: (random) => random.pick([...references, "lic", "lic-88", "%", "_", "\\", "ä"]),
  exact_reference_match: isTrue,
  cardholder_name: (random) => random.pick([...names, "a", "zoë"]),
  first_digits_card_number: () => "424242",
  last_digits_card_number: () => "0007",
  card_brands: (random) => [random.pick(brands), "none"].join(),
  state: (random) =>
    random.pick(["created", "success", "cancelled", "error", "undefined", "declined", "failed"]),
  payment_states: (random) => random.pick(["success", "created,started", "cancelled"]),
  refund_states: () => "submitted,success",
  dispute_states: () => "won,needs_response",
  transaction_type: (random) => random.pick(["PAYMENT", "REFUND", "dispute"]),
  gateway_payout_id: (random) => payoutId(random.pick(accounts), random.integer(0, payoutMax)),
  gateway_transaction_id: (random) => `gtx-${random.integer(0, 300)}`,
  metadata_value: (random) => random.pick(metadataTexts.filter((text) => text.length < 256)),
  agreement_id: () => "agr-1",
  status: (random) => random.pick(["ACTIVE", "created", "CANCELLED", "UNDEFINED"]),
  live: (random) => random.pick(["true", "false"]),
  as_of: (random) => randomDate(random).replace("Z", "000Z"),
  status_version: (random) => random.pick(["1", "2"]),
  include_all_events: isTrue,
  include_moto_statistics: isTrue,
  fee_headers: isTrue,
  moto_header: isTrue,
  position_line: isTrue,
  // Some of the columns, in any order.
  group_by: (random) =>
    random
      .sample(reports.groupColumns, 0.35)
      .sort(() => random.integer(-1, 1))
      .join() || "type",
  time_zone: (random) => random.pick(timeZones),
} satisfies Record<string, (random: Random) => string>;
type Name = keyof typeof values;

/** A query that has each of these parameters with the same probability. */
const some = (random: Random, probability: number, names: Name[]): Query =>
  Object.fromEntries(random.sample(names, probability).map((name) => [name, values[name](random)]));

const ofView: Name[] = ["status_version", "as_of"];
const ofCsv: Name[] = ["fee_headers", "moto_header", "position_line"];
const ofLookup: Name[] = ["transaction_type", ...ofView];
const ofReport: Name[] = [
  ...(["from_date", "to_date", "state", "transaction_type", "live"] as const),
  ...(["payment_states", "refund_states", "dispute_states", "status_version"] as const),
];
const ofSearch: Name[] = [
  ...([...ofReport, "email", "reference", "exact_reference_match", "cardholder_name"] as const),
  ...(["first_digits_card_number", "last_digits_card_number", "card_brands", "gateway_payout_id"] as const),
  ...(["gateway_transaction_id", "from_settled_date", "to_settled_date", "metadata_value"] as const),
  "agreement_id",
];

/** `failed` is a status of version 1 only, `declined` of version 2 only. */
const withVersion = (query: Query): Query => ({
  ...query,
  ...(query.state === "failed" && { status_version: "1" }),
  ...(query.state === "declined" && { status_version: "2" }),
});

const randomAccounts = (random: Random, overridden: number): Query =>
  random.chance(overridden)
    ? override
    : {
        account_id: random.pick([random.pick(accounts), [...random.sample(accounts, 0.5), "nobody"].join()]),
      };

const randomSearch = (random: Random, overridden = 0.2): Query =>
  withVersion({ ...randomAccounts(random, overridden), ...some(random, 0.06, ofSearch) });

const randomReport = (random: Random): Query =>
  withVersion({
    ...randomAccounts(random, 0.4),
    ...some(random, 0.15, ofReport),
    ...some(random, 0.6, ["group_by", "time_zone"]),
  });

function randomPerformance(random: Random): Read {
  const state: Query = random.chance(0.5) ? { state: random.pick(transactionStates) } : {};
  const [first, second] = [randomDate(random), randomDate(random)].sort() as [string, string];
  const instants = { from_date: first, to_date: second };
  const days = { from_date: first.slice(0, 10), to_date: second.slice(0, 10) };
  return oneOf(random, [
    [1, () => legacyPerformanceReport({ ...state, ...(random.chance(0.8) && instants) })],
    [1, () => performanceReport({ ...state, ...(random.chance(0.8) && days) })],
    [1, () => gatewayPerformanceReport(days)],
    [1, () => hours(instants)],
  ]);
}

const randomPayouts = (random: Random): Query => ({
  ...(random.chance(0.7)
    ? { gateway_account_id: random.sample([...accounts, "nobody"], 0.5).join() || "nobody" }
    : override),
  ...(random.chance(0.5) && { state: random.pick(["undefined", "intransit", "paidout", "failed"]) }),
  ...some(random, 0.2, ["from_date", "to_date", "live"]),
});

/** Several accounts are separated by commas in the query of the oracle. For agreements they are parameters of their own. */
function pathTo(path: string, { account_id, ...query }: Query): string {
  const parameters = new URLSearchParams(query);
  const accounts = path.startsWith("agreement") ? account_id?.split(",") : account_id;
  for (const account of [accounts ?? []].flat()) parameters.append("account_id", account);
  return `/v1/${path}?${parameters}`;
}

const pathOf = (kind: "transaction" | "payout" | "agreement", id: string, query: Query, subresource = "") =>
  pathTo(`${kind}/${encodeURIComponent(id)}${subresource}`, query);

/** A body whose integers are exact: one that is not a safe integer of JavaScript becomes its text. */
function parseExact({ status, text }: { status: number; text: string }) {
  const exact = (_name: string, value: unknown, context?: { source: string }) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? context?.source : value;
  return status === 200 ? { status, body: JSON.parse(text, exact) } : { status };
}

/** The same for a body of the oracle, which has none for 404. */
const resultOf = (body: unknown): Result =>
  body === undefined ? { status: 404 } : { status: 200, body: exactly(body) };

const exactly = (value: unknown): unknown => {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (Array.isArray(value)) return value.map(exactly);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, exactly(member)]));
};

/** A request of which the body is compared. `change` leaves out what the oracle does not know. */
const readOf = (
  path: string,
  ids: string[],
  expected: (oracle: Oracle) => unknown,
  change = (body: ReturnType<typeof parseExact>["body"]): unknown => body,
): Read => ({
  name: path,
  ids,
  async send(get) {
    const { status, body } = parseExact(await get(path));
    return status === 200 ? { status, body: change(body) } : { status };
  },
  expected: (oracle) => resultOf(expected(oracle)),
});

/** The order of arrival, which the oracle does not know, decides the ids of events. */
const withoutEventIds = (body: { events: { event_id?: number }[] }) => ({
  ...body,
  events: body.events.map(({ event_id, ...event }) => event),
});

export const lookup = (id: string, query: Query): Read =>
  readOf(pathOf("transaction", id, query), [id], (oracle) => oracle.transaction(id, query));

export const children = (id: string, account: string, query: Query = {}): Read =>
  readOf(
    pathOf("transaction", id, { gateway_account_id: account, ...query }, "/transaction"),
    [id],
    (oracle) => oracle.children(id, account, query),
  );

export const eventList = (id: string, account: string, query: Query): Read => ({
  ...readOf(
    pathOf("transaction", id, { gateway_account_id: account, ...query }, "/event"),
    [id],
    (oracle) => oracle.eventList(id, account, query),
    withoutEventIds,
  ),
  ...(query.include_all_events === "true" &&
    query.as_of === undefined && {
      count: ({ body }: Result) => (body as { events: unknown[] } | undefined)?.events.length ?? 0,
    }),
});

const payout = (id: string, query: Query): Read =>
  readOf(pathOf("payout", id, query), [], (oracle) => reports.payoutDetail(oracle, id, query));

const agreement = (id: string, query: Query): Read =>
  readOf(pathOf("agreement", id, query), [id], (oracle) => agreements.agreement(oracle, id, query));

const agreementEvents = (id: string, query: Query): Read =>
  readOf(
    pathOf("agreement", id, query, "/event"),
    [id],
    (oracle) => agreements.agreementEvents(oracle, id, query),
    withoutEventIds,
  );

const displaySizeMax = 500;

/** The lists with numbered pages, and with links to the following ones. */
const lists = {
  transaction: {
    sizeMax: displaySizeMax,
    matchesOf: (oracle: Oracle, query: Query) => oracle.matches(query),
  },
  payout: { sizeMax: displaySizeMax, matchesOf: reports.payoutMatches },
  agreement: { sizeMax: 20, matchesOf: agreements.agreementMatches },
};
type List = keyof typeof lists;

/** A page of a list, without its links. Beyond the last one it is not found, unless nothing matches. */
function page(list: List, query: Query, number: number, size: number): Read {
  const path = pathTo(list, { ...query, page: String(number), display_size: String(size) });
  const { sizeMax, matchesOf } = lists[list];
  const start = (number - 1) * Math.min(size, sizeMax);
  const expected = (oracle: Oracle) => {
    const all = matchesOf(oracle, query);
    const results = all.slice(start, start + Math.min(size, sizeMax));
    if (all.length > 0 && results.length === 0) return undefined;
    return { total: all.length, count: results.length, page: number, results };
  };
  return readOf(path, [], expected, ({ _links, ...body }) => body);
}

type Link = "next_page" | "next_cursor";

/** Reads the first page and those that the links lead to. The result has the items of all pages. */
const linked = (
  firstPath: string,
  items: "results" | "groups",
  link: Link,
  expected: (oracle: Oracle) => unknown,
): Read => ({
  name: `${firstPath}, by ${link}`,
  ids: [],
  async send(get) {
    const all: unknown[] = [];
    for (let path: string | undefined = firstPath; path !== undefined; ) {
      const { status, body } = parseExact(await get(path));
      if (status !== 200) return { status };
      all.push(...body[items]);
      const next: string | undefined = body._links?.[link]?.href;
      path = next?.slice(new URL(next).origin.length);
    }
    return { status: 200, body: all };
  },
  expected: (oracle) => resultOf(expected(oracle)),
  ...(items === "results" && link === "next_cursor" && { violation: duplicateIn }),
});

/** All results of a list, page by page. */
export const allPages = (list: List, query: Query, size: number, link: Link): Read =>
  linked(
    pathTo(list, {
      ...query,
      display_size: String(size),
      ...(link === "next_cursor" && { extended: "true" }),
    }),
    "results",
    link,
    (oracle) => lists[list].matchesOf(oracle, query),
  );

/** A row may be there twice with different dates: an older event that arrives changes its date. */
function duplicateIn({ body = [] }: Result): string | undefined {
  const keys = (body as { transaction_id?: string; external_id?: string; created_date: string }[]).map(
    ({ transaction_id, external_id, created_date }) => `${transaction_id ?? external_id} of ${created_date}`,
  );
  const duplicate = keys.find((key, index) => keys.indexOf(key) !== index);
  return duplicate && `${duplicate} appears twice`;
}

const csvRead = (path: string, expected: (oracle: Oracle) => string[][]): Read => ({
  name: `${path} as CSV`,
  ids: [],
  async send(get) {
    const { status, text } = await get(path, "text/csv");
    if (status !== 200) return { status };
    const lines = parse(text, { relax_column_count: true });
    return { status, body: lines.filter(([first]) => first !== "Ledger-Position") };
  },
  expected: (oracle) => resultOf(expected(oracle)),
});

export const csv = (query: Query): Read =>
  csvRead(pathTo("transaction", query), (oracle) => oracle.csvRows(query));

const reportCsv = (query: Query): Read =>
  csvRead(pathTo("report/transactions", query), (oracle) => reports.reportCsvRows(oracle, query));

type ReportGroup = Record<string, string | boolean | null> & { count: number };

/** Describes groups that are not in their order, or that are there twice. Messages that arrive do not change the order. */
function disorderIn(groups: ReportGroup[], { group_by }: Query): string | undefined {
  const valuesOf = (group: ReportGroup | undefined) =>
    (group_by?.split(",") ?? []).map((name) => group?.[name]?.toString() ?? null);
  const index = groups.findIndex(
    (group, place) => place > 0 && reports.compareGroups(valuesOf(groups[place - 1]), valuesOf(group)) >= 0,
  );
  return index < 0 ? undefined : `${JSON.stringify(valuesOf(groups[index]))} is not after its predecessor`;
}

/** Few groups, of all transactions. Their number never decreases. */
const isOfAll = ({ group_by = "type,state", time_zone, status_version, ...filters }: Query) =>
  group_by === "type,state" && Object.keys(filters).join() === Object.keys(override).join();

/** The first page of a report. Default size: that of the contract. */
export function reportPage(query: Query, size?: number): Read {
  const path = pathTo("report/transactions", {
    ...query,
    ...(size !== undefined && { display_size: String(size) }),
  });
  const effectiveSize = Math.min(size ?? displaySizeMax, displaySizeMax);
  const groupsIn = ({ body }: Result) => (body as { groups: ReportGroup[] } | undefined)?.groups ?? [];
  const expected = (oracle: Oracle) => {
    const groups = reports.reportGroups(oracle, query);
    return { groups: groups.slice(0, effectiveSize), more: groups.length > effectiveSize };
  };
  return {
    ...readOf(path, [], expected, ({ groups, ...body }) => ({ groups, more: "_links" in body })),
    violation: (result) => disorderIn(groupsIn(result), query),
    ...(isOfAll(query) &&
      size === undefined && {
        count: (result: Result) => groupsIn(result).reduce((total, { count }) => total + count, 0),
      }),
  };
}

/** All groups of a report, page by page. */
export const reportPages = (query: Query, size: number): Read => ({
  ...linked(
    pathTo("report/transactions", { ...query, display_size: String(size) }),
    "groups",
    "next_cursor",
    (oracle) => reports.reportGroups(oracle, query),
  ),
  violation: ({ body = [] }) => disorderIn(body as ReportGroup[], query),
});

/** A report of which the whole body is compared. */
const report =
  (name: string, bodyOf: (oracle: Oracle, query: Query) => object) =>
  (query: Query): Read =>
    readOf(pathTo(`report/${name}`, query), [], (oracle) => bodyOf(oracle, query));

const summary = report("transactions-summary", reports.transactionsSummary);
const transactionsSummary = (query: Query) => summary({ ...query, override_from_date_validation: "true" });
const paymentsByState = report("payments_by_state", reports.paymentsByState);
const legacyPerformanceReport = report("performance-report-legacy", reports.performanceOfInstants);
const performanceReport = report("performance-report", reports.performanceOfDays);
const gatewayPerformanceReport = report("gateway-performance-report", reports.gatewayPerformance);
const hours = report("transactions-by-hour", reports.transactionsByHour);

/** Reads of each of these transactions, of every account, and random ones. Default of `ids`: every transaction. */
export function* allReads(
  { oracle, payments }: Pick<Publisher, "oracle" | "payments">,
  random: Random,
  ids: Iterable<string> = oracle.resourceIds(),
): Generator<Read> {
  for (const id of ids) {
    yield lookup(id, override);
    const account = oracle.accountOf(id) ?? random.pick(accounts);
    yield eventList(id, account, { include_all_events: "true" });
    if (random.chance(0.3)) yield children(id, account);
  }
  for (const account of [...accounts, accounts.join()]) {
    const query = { account_id: account };
    yield csv(query);
    yield allPages("transaction", query, 500, "next_page");
    yield allPages("transaction", query, 70, "next_cursor");
  }
  yield* reportsOf({});
  for (const account of accounts) yield* reportsOf({ account_id: account });
  for (const { id } of oracle.payouts()) yield payout(id, override);
  for (const id of agreements.agreementIds(oracle)) {
    yield agreement(id, overrideBoth);
    yield agreementEvents(id, {});
  }
  for (const query of [...accounts.map((account_id) => ({ account_id })), overrideBoth]) {
    yield allPages("agreement", query, 20, "next_page");
    yield allPages("agreement", query, 7, "next_cursor");
  }
  for (let count = 0; count < randomReads; count += 1) yield randomRead(random, payments());
}

/** Reports of an account or of all, and their payouts. */
function* reportsOf({ account_id }: Query): Generator<Read> {
  const query = account_id === undefined ? override : { account_id };
  for (const time_zone of timeZones) {
    const byDay = { ...query, group_by: "type,state,day", time_zone };
    yield reportPage(byDay);
    yield reportPages(byDay, 150);
    yield reportCsv({ ...byDay, group_by: "type,state,day,live,moto" });
  }
  yield reportPage(query);
  yield reportPages({ ...query, group_by: "account,month" }, 20);
  yield transactionsSummary({ ...query, include_moto_statistics: "true" });
  yield paymentsByState(query);
  const ofPayouts = account_id === undefined ? override : { gateway_account_id: account_id };
  yield allPages("payout", { ...ofPayouts, extended: "true" }, 5, "next_page");
}

const randomReads = 400;
