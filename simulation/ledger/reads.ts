import { parse } from "csv-parse/sync";
import type { Random } from "../../testing/random.ts";
import {
  accounts,
  brands,
  disputeId,
  earliest,
  emails,
  metadataTexts,
  names,
  paymentId,
  payoutId,
  payoutMax,
  references,
  refundId,
  timestampAt,
} from "./messages.ts";
import type { Oracle, Query } from "./oracle.ts";

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
  const kind = random.integer(1, 100);
  if (kind <= 25) return lookup(randomId(random, payments), randomLookup(random));
  if (kind <= 40)
    return eventList(randomId(random, payments), random.pick(accounts), randomEventQuery(random));
  if (kind <= 50) return children(randomId(random, payments), random.pick(accounts), randomType(random));
  if (kind <= 75)
    return page(randomSearch(random), random.pick([1, 1, 1, 2, 5]), random.pick([1, 7, 100, 600]));
  if (kind <= 80)
    return allPages(
      randomSearch(random),
      random.pick([3, 50, 500]),
      random.pick(["next_page", "next_cursor"]),
    );
  if (kind <= 85) return csv(randomCsv(random));
  return invalidRead(random);
}

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
  `${timestampAt(earliest + random.integer(0, 4000) * 60_000_000).slice(0, 23)}Z`;
const randomDay = (random: Random) => `2024-03-${String(random.integer(5, 26)).padStart(2, "0")}`;
const randomType = (random: Random): Query =>
  random.chance(0.3) ? { transaction_type: random.pick(["PAYMENT", "REFUND", "dispute"]) } : {};
const randomAsOf = (random: Random): Query =>
  random.chance(0.2) ? { as_of: randomDate(random).replace("Z", "000Z") } : {};
const randomVersion = (random: Random): Query =>
  random.chance(0.3) ? { status_version: random.pick(["1", "2"]) } : {};

const randomLookup = (random: Random): Query => ({
  ...(random.chance(0.5)
    ? { account_id: random.pick(accounts) }
    : { override_account_id_restriction: "true" }),
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
const searchFilters: Record<string, (random: Random) => Partial<Query>> = {
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
};

function randomFilters(random: Random): Query {
  const filters = Object.values(searchFilters);
  const [first, second] = [random.pick(filters), random.pick(filters)];
  return { ...(random.chance(0.8) && first(random)), ...(random.chance(0.3) && second(random)) } as Query;
}

const randomSearch = (random: Random): Query =>
  withVersion({
    ...(random.chance(0.8) ? randomAccounts(random) : { override_account_id_restriction: "true" }),
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

const pathOf = (id: string, query: Query, subresource = "") =>
  `/v1/transaction/${encodeURIComponent(id)}${subresource}?${new URLSearchParams(query)}`;
const searchPathOf = (query: Query) => `/v1/transaction/?${new URLSearchParams(query)}`;

const resultOf = (body: unknown): Result => (body === undefined ? { status: 404 } : { status: 200, body });
const parseJson = ({ status, text }: { status: number; text: string }) =>
  status === 200 ? { status, body: JSON.parse(text) } : { status };

export const lookup = (id: string, query: Query): Read => {
  const path = pathOf(id, query);
  return {
    name: path,
    ids: [id],
    send: async (get) => parseJson(await get(path)),
    expected: (oracle) => resultOf(oracle.transaction(id, query)),
  };
};

export const children = (id: string, account: string, query: Query = {}): Read => {
  const path = pathOf(id, { gateway_account_id: account, ...query }, "/transaction");
  return {
    name: path,
    ids: [id],
    send: async (get) => parseJson(await get(path)),
    expected: (oracle) => resultOf(oracle.children(id, account, query)),
  };
};

export const eventList = (id: string, account: string, query: Query): Read => {
  const path = pathOf(id, { gateway_account_id: account, ...query }, "/event");
  return {
    name: path,
    ids: [id],
    async send(get) {
      const result = parseJson(await get(path));
      for (const event of result.body?.events ?? []) delete event.event_id;
      return result;
    },
    expected: (oracle) => resultOf(oracle.eventList(id, account, query)),
    ...(query.include_all_events === "true" &&
      query.as_of === undefined && {
        count: ({ body }: Result) => (body as { events: unknown[] } | undefined)?.events.length ?? 0,
      }),
  };
};

const displaySizeMax = 500;

export function page(query: Query, number: number, size: number): Read {
  const path = searchPathOf({ ...query, page: String(number), display_size: String(size) });
  const effectiveSize = Math.min(size, displaySizeMax);
  return {
    name: path,
    ids: [],
    async send(get) {
      const result = parseJson(await get(path));
      delete result.body?._links;
      return result;
    },
    expected(oracle) {
      const all = oracle.matches(query);
      if (all.length > 0 && (number - 1) * effectiveSize >= all.length) return resultOf(undefined);
      const results = all.slice((number - 1) * effectiveSize, number * effectiveSize);
      return resultOf({ total: all.length, count: results.length, page: number, results });
    },
  };
}

/** All results of a search, page by page. */
export function allPages(query: Query, size: number, link: "next_page" | "next_cursor"): Read {
  const firstPath = searchPathOf({ ...query, display_size: String(size) });
  return {
    name: `${firstPath}, by ${link}`,
    ids: [],
    async send(get) {
      const results: unknown[] = [];
      for (let path: string | undefined = firstPath; path !== undefined; ) {
        const { status, text } = await get(path);
        if (status !== 200) return { status };
        const { results: pageResults, _links: links } = JSON.parse(text);
        results.push(...pageResults);
        const { pathname, search } = new URL(links[link]?.href ?? "none:");
        path = links[link] && pathname + search;
      }
      return { status: 200, body: results };
    },
    expected: (oracle) => resultOf(oracle.matches(query)),
    ...(link === "next_cursor" && { violation: duplicateIn }),
  };
}

/** A transaction may be there twice with different dates: an older event that arrives changes its date. */
function duplicateIn({ body = [] }: Result): string | undefined {
  const keys = (body as { transaction_id: string; created_date: string }[]).map(
    ({ transaction_id, created_date }) => `${transaction_id} of ${created_date}`,
  );
  const duplicate = keys.find((key, index) => keys.indexOf(key) !== index);
  return duplicate && `${duplicate} appears twice`;
}

export function csv(query: Query): Read {
  const path = searchPathOf(query);
  return {
    name: `${path} as CSV`,
    ids: [],
    async send(get) {
      const { status, text } = await get(path, "text/csv");
      return status === 200 ? { status, body: parse(text, { relax_column_count: true }) } : { status };
    },
    expected: (oracle) => resultOf(oracle.csvRows(query)),
  };
}

const invalidPaths = [
  "/v1/transaction/",
  "/v1/transaction/?account_id=",
  "/v1/transaction/?account_id=57&page=0",
  "/v1/transaction/?account_id=57&display_size=1e3",
  "/v1/transaction/?account_id=57&from_date=yesterday",
  "/v1/transaction/?account_id=57&state=bogus",
  "/v1/transaction/?account_id=57&state=failed",
  "/v1/transaction/?account_id=57&cursor=made-up",
  "/v1/transaction/?account_id=57&reference=%00",
  "/v1/transaction/?account_id=57&reference=%ff%fe%zz",
  `/v1/transaction/?account_id=57&email=${"x".repeat(256)}`,
  "/v1/transaction/?account_id=57&unknown=1",
  "/v1/transaction/pay-1",
  "/v1/transaction/pay-1?account_id=57&override_account_id_restriction=1",
  "/v1/transaction/pay-1?account_id=57&as_of=2024-02-30T00:00:00Z",
  `/v1/transaction/${"x".repeat(256)}?account_id=57`,
  "/v1/transaction/%00?account_id=57",
  "/v1/transaction/%zz?account_id=57",
  "/v1/transaction/pay-1/event",
  "/v1/transaction/pay-1/event?gateway_account_id=57&include_all_events=yes",
  "/v1/transaction/pay-1/transaction?gateway_account_id=",
  "/v1/event/seventeen",
  "/v1/event/1.5",
];

function invalidRead(random: Random): Read {
  const path = random.pick(invalidPaths);
  return {
    name: path,
    ids: [],
    send: async (get) => ({ status: (await get(path)).status }),
    expected: () => ({ status: 400 }),
  };
}
