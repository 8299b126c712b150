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
} from "./messages.ts";
import { type Oracle, type Query, transactionStates } from "./oracle.ts";
import {
  agreementEvents as agreementEventsOf,
  agreementMatches,
  agreement as agreementOf,
} from "./oracle-agreements.ts";
import {
  compareGroups,
  gatewayPerformance,
  groupColumns,
  paymentsByState as paymentsByStateOf,
  payoutDetail,
  payoutMatches,
  performanceOfDays,
  performanceOfInstants,
  reportCsvRows,
  reportGroups,
  transactionsByHour,
  transactionsSummary as transactionsSummaryOf,
} from "./oracle-reports.ts";

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

/** A random read about one of the first payments, about none, or an invalid one. */
export function randomRead(random: Random, payments: number): Read {
  if (random.chance(0.25)) return randomReportRead(random);
  if (random.chance(0.15)) return randomAgreementRead(random, payments);
  const kind = random.integer(1, 100);
  if (kind <= 25) return lookup(randomId(random, payments), randomLookup(random));
  if (kind <= 40)
    return eventList(randomId(random, payments), random.pick(accounts), randomEventQuery(random));
  if (kind <= 50) return children(randomId(random, payments), random.pick(accounts), randomType(random));
  if (kind <= 75)
    return page(
      "transaction",
      randomSearch(random),
      random.pick([1, 1, 1, 2, 5]),
      random.pick([1, 7, 100, 600]),
    );
  if (kind <= 80)
    return allPages(
      "transaction",
      randomSearch(random),
      random.pick([3, 50, 500]),
      random.pick(["next_page", "next_cursor"]),
    );
  if (kind <= 85) return csv(randomCsv(random));
  return invalidRead(random);
}

/** A random read of a report or of payouts. */
function randomReportRead(random: Random): Read {
  const kind = random.integer(1, 100);
  if (kind <= 5) return reportPage({ ...override, ...(random.chance(0.5) && { group_by: "type,state" }) });
  if (kind <= 30) return reportPage(randomReport(random), random.pick([undefined, 1, 7, 600]));
  if (kind <= 40) {
    return random.chance(0.5)
      ? reportPages(randomReport(random), 90)
      : reportPages(
          { ...randomReport(random), group_by: random.pick(["type,state", "live,moto,account"]) },
          4,
        );
  }
  if (kind <= 45) return reportCsv(randomReport(random));
  if (kind <= 55) return transactionsSummary(randomSummary(random));
  if (kind <= 65) return paymentsByState({ ...randomAccount(random), ...randomDates(random) });
  if (kind <= 75) return randomPerformance(random);
  if (kind <= 85)
    return page("payout", randomPayouts(random), random.pick([1, 1, 2]), random.pick([1, 5, 600]));
  return payout(payoutId(random.pick(accounts), random.integer(0, payoutMax)), {
    ...(random.chance(0.5) ? { gateway_account_id: random.pick(accounts) } : override),
  });
}

function randomAgreementRead(random: Random, payments: number): Read {
  const id = agreementId(random.integer(0, payments));
  const kind = random.integer(1, 100);
  if (kind <= 40) return agreement(id, { ...randomOwner(random), ...randomAsOf(random) });
  if (kind <= 60)
    return agreementEvents(id, { ...(random.chance(0.5) && randomService(random)), ...randomAsOf(random) });
  if (kind <= 85)
    return page("agreement", randomAgreements(random), random.pick([1, 1, 2]), random.pick([1, 5, 600]));
  return allPages(
    "agreement",
    randomAgreements(random),
    random.pick([3, 20]),
    random.pick(["next_page", "next_cursor"]),
  );
}

export const overrideBoth = { override_account_or_service_id_restriction: "true" };

const randomService = (random: Random) => ({ service_id: `service-${random.integer(1, 3)}` });

const randomOwner = (random: Random): Query =>
  random.pick<Query>([
    { account_id: random.pick(accounts) },
    randomService(random),
    { account_id: random.pick(accounts), ...randomService(random) },
    overrideBoth,
  ]);

const randomAgreements = (random: Random): Query => ({
  ...(random.chance(0.2) ? { account_id: random.sample(accounts, 0.5).join() || "57" } : randomOwner(random)),
  ...(random.chance(0.3) && { status: random.pick(["ACTIVE", "created", "CANCELLED", "UNDEFINED"]) }),
  ...(random.chance(0.3) && { reference: random.pick([...references, "lic", "%"]) }),
  ...(random.chance(0.2) && { exact_reference_match: "true" }),
  ...(random.chance(0.3) && { live: random.pick(["true", "false"]) }),
});

const randomId = (random: Random, payments: number): string => {
  const number = random.integer(0, payments);
  return random.pick([
    paymentId(number),
    paymentId(number),
    refundId(number, random.integer(0, 2)),
    disputeId(number),
  ]);
};

const randomDate = (random: Random) =>
  random.chance(0.3)
    ? dateAfter(random.pick(midnights), random.pick([-1, 0, 1, 1_800_000]))
    : `${timestampAt(earliest + random.integer(0, 4000) * 60_000_000).slice(0, 23)}Z`;
const dateAfter = (instant: string, milliseconds: number) =>
  new Date(Date.parse(instant) + milliseconds).toISOString();
const randomDay = (random: Random) => `2024-03-${String(random.integer(5, 26)).padStart(2, "0")}`;
const randomType = (random: Random): Query =>
  random.chance(0.3) ? { transaction_type: random.pick(["PAYMENT", "REFUND", "dispute"]) } : {};
const randomAsOf = (random: Random): Query =>
  random.chance(0.2) ? { as_of: randomDate(random).replace("Z", "000Z") } : {};
const randomVersion = (random: Random): Query =>
  random.chance(0.3) ? { status_version: random.pick(["1", "2"]) } : {};

const randomLookup = (random: Random): Query => ({
  ...(random.chance(0.5) ? { account_id: random.pick(accounts) } : override),
  ...randomType(random),
  ...randomVersion(random),
  ...randomAsOf(random),
});

const randomEventQuery = (random: Random): Query => ({
  ...(random.chance(0.7) && { include_all_events: "true" }),
  ...randomVersion(random),
  ...randomAsOf(random),
});

const randomAccounts = (random: Random) => ({
  account_id: (random.chance(0.7)
    ? [random.pick(accounts)]
    : [...random.sample(accounts, 0.5), "nobody"]
  ).join(),
});

/** Random parameters for each filter of a search. */
const searchFilters = {
  dates: (random) =>
    random.chance(0.5) ? { from_date: randomDate(random) } : { to_date: randomDate(random) },
  email: (random) => ({ email: random.pick([...emails, "EXAMPLE", "@", "%"]) }),
  reference: (random) => ({ reference: random.pick([...references, "lic", "%", "_", "\\", "ä"]) }),
  exact_reference: (random) => ({
    reference: random.pick([...references, "lic-88"]),
    exact_reference_match: "true",
  }),
  cardholder_name: (random) => ({ cardholder_name: random.pick([...names, "a", "zoë"]) }),
  digits: (random) =>
    random.pick([{ first_digits_card_number: "424242" }, { last_digits_card_number: "0007" }]),
  card_brands: (random) => ({ card_brands: [random.pick(brands), "none"].join() }),
  state: (random) => ({ state: random.pick(["created", "success", "cancelled", "error", "undefined"]) }),
  declined: () => ({ state: "declined" }),
  failed: () => ({ state: "failed", status_version: "1" }),
  typed: (random) => ({
    payment_states: random.pick(["success", "created,started", "cancelled"]),
    ...(random.chance(0.5) && { refund_states: "submitted,success" }),
    ...(random.chance(0.5) && { dispute_states: "won,needs_response" }),
  }),
  type: (random) => ({ transaction_type: random.pick(["PAYMENT", "refund", "DISPUTE"]) }),
  payout: (random) => ({ gateway_payout_id: payoutId(random.pick(accounts), random.integer(0, payoutMax)) }),
  gateway: (random) => ({ gateway_transaction_id: `gtx-${random.integer(0, 300)}` }),
  settled: (random) =>
    random.chance(0.5) ? { from_settled_date: randomDay(random) } : { to_settled_date: randomDay(random) },
  metadata_value: (random) => ({
    metadata_value: random.pick(metadataTexts.filter((text) => text.length < 256)),
  }),
  agreement_id: () => ({ agreement_id: "agr-1" }),
} satisfies Record<string, (random: Random) => Partial<Query>>;

function randomFilters(random: Random): Query {
  const filters = Object.values(searchFilters);
  const [first, second] = [random.pick(filters), random.pick(filters)];
  return { ...(random.chance(0.8) && first(random)), ...(random.chance(0.3) && second(random)) } as Query;
}

const randomSearch = (random: Random): Query =>
  withVersion({
    ...(random.chance(0.8) ? randomAccounts(random) : override),
    ...randomFilters(random),
  });

const randomCsv = (random: Random): Query =>
  withVersion({
    ...randomAccounts(random),
    ...randomFilters(random),
    ...(random.chance(0.5) && { fee_headers: "true" }),
    ...(random.chance(0.5) && { moto_header: "true" }),
  });

/** `failed` is a status of version 1 only, `declined` of version 2 only. */
const withVersion = (query: Query): Query =>
  query.state === "failed" ? { ...query, status_version: "1" } : { ...query, status_version: "2" };

export const override = { override_account_id_restriction: "true" };

const randomAccount = (random: Random): Query =>
  random.chance(0.7) ? { account_id: random.pick([...accounts, "nobody"]) } : override;

const randomDates = (random: Random): Query => ({
  ...(random.chance(0.4) && { from_date: randomDate(random) }),
  ...(random.chance(0.4) && { to_date: randomDate(random) }),
});

/** Some or none of the columns, in any order. */
function randomGroupBy(random: Random): Query {
  const columns = random.sample(groupColumns, 0.35);
  for (let index = columns.length - 1; index > 0; index -= 1) {
    const other = random.integer(0, index);
    [columns[index], columns[other]] = [columns[other] as string, columns[index] as string];
  }
  return columns.length > 0 ? { group_by: columns.join() } : {};
}

function randomReport(random: Random): Query {
  const { declined, failed, state, typed, type } = searchFilters;
  const filter = random.pick([declined, failed, state, typed, type]);
  const query = {
    ...(random.chance(0.6) ? randomAccounts(random) : override),
    ...randomGroupBy(random),
    ...randomDates(random),
    ...(random.chance(0.5) && { time_zone: random.pick(["UTC", "Europe/London", "Europe/London"]) }),
    ...(random.chance(0.5) && filter(random)),
    ...(random.chance(0.2) && random.pick([typed, type])(random)),
  } as Query;
  const isOfOneVersion = query.state === "failed" || query.state === "declined";
  return isOfOneVersion ? withVersion(query) : { ...query, ...randomVersion(random) };
}

const randomSummary = (random: Random): Query => ({
  ...randomAccount(random),
  ...randomDates(random),
  override_from_date_validation: "true",
  ...(random.chance(0.7) && { include_moto_statistics: "true" }),
});

function randomPerformance(random: Random): Read {
  const state: Query = random.chance(0.5) ? { state: random.pick(transactionStates) } : {};
  const [first, second] = [randomDate(random), randomDate(random)].sort() as [string, string];
  const instants = { from_date: first, to_date: second };
  const days = { from_date: first.slice(0, 10), to_date: second.slice(0, 10) };
  return random.pick([
    () => legacyPerformanceReport({ ...state, ...(random.chance(0.8) && instants) }),
    () => performanceReport({ ...state, ...(random.chance(0.8) && days) }),
    () => gatewayPerformanceReport(days),
    () => hours(instants),
  ])();
}

const randomPayouts = (random: Random): Query => ({
  ...(random.chance(0.7)
    ? { gateway_account_id: random.sample([...accounts, "nobody"], 0.5).join() || "nobody" }
    : override),
  ...(random.chance(0.5) && { state: random.pick(["undefined", "intransit", "paidout", "failed"]) }),
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

export const payout = (id: string, query: Query): Read =>
  readOf(pathOf("payout", id, query), [], (oracle) => payoutDetail(oracle, id, query));

export const agreement = (id: string, query: Query): Read =>
  readOf(pathOf("agreement", id, query), [id], (oracle) => agreementOf(oracle, id, query));

export const agreementEvents = (id: string, query: Query): Read =>
  readOf(
    pathOf("agreement", id, query, "/event"),
    [id],
    (oracle) => agreementEventsOf(oracle, id, query),
    withoutEventIds,
  );

const displaySizeMax = 500;

/** The lists with numbered pages, and with links to the following ones. */
const lists = {
  transaction: {
    sizeMax: displaySizeMax,
    matchesOf: (oracle: Oracle, query: Query) => oracle.matches(query),
  },
  payout: { sizeMax: displaySizeMax, matchesOf: payoutMatches },
  agreement: { sizeMax: 20, matchesOf: agreementMatches },
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
  linked(pathTo(list, { ...query, display_size: String(size) }), "results", link, (oracle) =>
    lists[list].matchesOf(oracle, query),
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
    return status === 200 ? { status, body: parse(text, { relax_column_count: true }) } : { status };
  },
  expected: (oracle) => resultOf(expected(oracle)),
});

export const csv = (query: Query): Read =>
  csvRead(pathTo("transaction", query), (oracle) => oracle.csvRows(query));

export const reportCsv = (query: Query): Read =>
  csvRead(pathTo("report/transactions", query), (oracle) => reportCsvRows(oracle, query));

type ReportGroup = Record<string, string | boolean | null> & { count: number };

/** Describes groups that are not in their order, or that are there twice. Messages that arrive do not change the order. */
function disorderIn(groups: ReportGroup[], { group_by }: Query): string | undefined {
  const valuesOf = (group: ReportGroup | undefined) =>
    (group_by?.split(",") ?? []).map((name) => group?.[name]?.toString() ?? null);
  const index = groups.findIndex(
    (group, place) => place > 0 && compareGroups(valuesOf(groups[place - 1]), valuesOf(group)) >= 0,
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
    const groups = reportGroups(oracle, query);
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
    (oracle) => reportGroups(oracle, query),
  ),
  violation: ({ body = [] }) => disorderIn(body as ReportGroup[], query),
});

/** A report of which the whole body is compared. */
const report =
  (name: string, bodyOf: (oracle: Oracle, query: Query) => object) =>
  (query: Query): Read =>
    readOf(pathTo(`report/${name}`, query), [], (oracle) => bodyOf(oracle, query));

export const transactionsSummary = report("transactions-summary", transactionsSummaryOf);
export const paymentsByState = report("payments_by_state", paymentsByStateOf);
const legacyPerformanceReport = report("performance-report-legacy", performanceOfInstants);
const performanceReport = report("performance-report", performanceOfDays);
const gatewayPerformanceReport = report("gateway-performance-report", gatewayPerformance);
const hours = report("transactions-by-hour", transactionsByHour);

const invalidPaths = Object.entries({
  "/v1/transaction/": [
    "",
    "pay-1",
    "%00?account_id=57",
    "%zz?account_id=57",
    `${"x".repeat(256)}?account_id=57`,
  ],
  "/v1/transaction/?account_id=": [
    "",
    "57&page=0",
    "57&display_size=1e3",
    "57&from_date=yesterday",
    "57&unknown=1",
  ],
  "/v1/transaction/?account_id=57&": [
    ...["state=bogus", "state=failed", "cursor=made-up", "reference=%00", "reference=%ff%fe%zz"],
    `email=${"x".repeat(256)}`,
  ],
  "/v1/transaction/pay-1?account_id=57&": ["override_account_id_restriction=1", "as_of=2024-02-30T00:00:00Z"],
  "/v1/transaction/pay-1/event": ["", "?gateway_account_id=57&include_all_events=yes"],
  "/v1/transaction/pay-1/transaction?gateway_account_id=": [""],
  "/v1/report/transactions": ["", "-summary?account_id=57", "-by-hour?from_date=2024-03-01T00:00:00Z"],
  "/v1/report/transactions?account_id=57&": ["group_by=colour", "group_by=day,day", "time_zone=Europe/Paris"],
  "/v1/report/transactions?account_id=57&state=failed": [""],
  "/v1/report/transactions?account_id=57&group_by=day&cursor=made-up": [""],
  "/v1/report/": ["payments_by_state", "performance-report-legacy?to_date=2024-03-01T00:00:00Z"],
  "/v1/report/performance-report?": ["from_date=2024-03-01", "state=success"],
  "/v1/report/gateway-performance-report?": ["from_date=2024-03-02&to_date=2024-03-01"],
  "/v1/payout": ["", "?gateway_account_id=57&state=paid", "/po-57-1"],
  "/v1/agreement": [
    "",
    "?account_id=57&status=lost",
    "?account_id=57&cursor=made-up",
    "/agr-1",
    "/agr-1/event?page=1",
  ],
  "/v1/event/": ["seventeen", "1.5"],
}).flatMap(([start, ends]) => ends.map((end) => start + end));

const invalidRead = (random: Random): Read => ({
  ...readOf(random.pick(invalidPaths), [], () => undefined),
  expected: () => ({ status: 400 }),
});
