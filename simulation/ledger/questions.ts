import { parse } from "csv-parse/sync";
import type { Random } from "../random.ts";
import {
  accounts,
  brands,
  disputeId,
  emails,
  epoch,
  instantAt,
  metadataTexts,
  names,
  paymentId,
  payoutId,
  payoutMax,
  references,
  refundId,
} from "./lives.ts";
import type { Oracle, Query } from "./oracle.ts";

/** Sends a request and resolves with the reply, whatever its status. */
export type Get = (path: string, accept?: string) => Promise<{ status: number; text: string }>;

/** Something that a caller may want to know, with what the right answer is. */
export interface Question {
  /** The request, or the first of them. */
  said: string;
  /** The transactions it is about, when it names any. */
  ids: string[];
  /** What the ledger answers, without what it chooses itself. */
  ask(get: Get): Promise<Answered>;
  /** What it should. */
  answer(oracle: Oracle): Answered;
  /** What is wrong with an answer by itself, whatever the ledger knew then. */
  oddity?(answered: Answered): string | undefined;
  /** What of an answer never gets less from one time to the next. */
  neverLess?(answered: Answered): number;
}

/** An answer as it is compared: of a status other than 200 that alone. */
interface Answered {
  status: number;
  body?: unknown;
}

/** Any question, whatever there may be: it may be about any of the first lives, and find nothing. */
export function randomQuestion(random: Random, lives: number): Question {
  const kind = random.whole(1, 100);
  if (kind <= 25) return lookup(randomId(random, lives), randomLookup(random));
  if (kind <= 40) return eventList(randomId(random, lives), random.one(accounts), randomEventQuery(random));
  if (kind <= 50) return children(randomId(random, lives), random.one(accounts), randomType(random));
  if (kind <= 75)
    return page(randomSearch(random), random.one([1, 1, 1, 2, 5]), random.one([1, 7, 100, 600]));
  if (kind <= 80)
    return walk(randomSearch(random), random.one([3, 50, 500]), random.one(["next_page", "next_cursor"]));
  if (kind <= 85) return table(randomTable(random));
  return badQuestion(random);
}

const randomId = (random: Random, lives: number): string => {
  const number = random.whole(0, lives);
  return random.one([
    paymentId(number),
    paymentId(number),
    refundId(number, random.whole(0, 2)),
    disputeId(number),
  ]);
};

const randomInstant = (random: Random) =>
  `${instantAt(epoch + random.whole(0, 4000) * 60_000_000).slice(0, 23)}Z`;
const randomDay = (random: Random) => `2024-03-${String(random.whole(5, 26)).padStart(2, "0")}`;
const randomType = (random: Random): Query =>
  random.chance(0.3) ? { transaction_type: random.one(["PAYMENT", "REFUND", "dispute"]) } : {};
const asOf = (random: Random): Query =>
  random.chance(0.2) ? { as_of: randomInstant(random).replace("Z", "000Z") } : {};
const version = (random: Random): Query =>
  random.chance(0.3) ? { status_version: random.one(["1", "2"]) } : {};

const randomLookup = (random: Random): Query => ({
  ...(random.chance(0.5)
    ? { account_id: random.one(accounts) }
    : { override_account_id_restriction: "true" }),
  ...randomType(random),
  ...version(random),
  ...asOf(random),
});

const randomEventQuery = (random: Random): Query => ({
  ...(random.chance(0.7) && { include_all_events: "true" }),
  ...version(random),
  ...asOf(random),
});

const someAccounts = (random: Random) => ({
  account_id: (random.chance(0.7)
    ? [random.one(accounts)]
    : [...random.some(accounts, 0.5), "nobody"]
  ).join(),
});

/** Each filter, with what may be asked of it. */
const searched: Record<string, (random: Random) => Partial<Query>> = {
  dates: (random) =>
    random.chance(0.5) ? { from_date: randomInstant(random) } : { to_date: randomInstant(random) },
  email: (random) => ({ email: random.one([...emails, "EXAMPLE", "@", "%"]) }),
  reference: (random) => ({ reference: random.one([...references, "lic", "%", "_", "\\", "ä"]) }),
  exactly: (random) => ({ reference: random.one([...references, "lic-88"]), exact_reference_match: "true" }),
  cardholder_name: (random) => ({ cardholder_name: random.one([...names, "a", "zoë"]) }),
  digits: (random) =>
    random.one([{ first_digits_card_number: "424242" }, { last_digits_card_number: "0007" }]),
  card_brands: (random) => ({ card_brands: [random.one(brands), "none"].join() }),
  state: (random) => ({ state: random.one(["created", "success", "cancelled", "error", "undefined"]) }),
  declined: () => ({ state: "declined" }),
  failed: () => ({ state: "failed", status_version: "1" }),
  typed: (random) => ({
    payment_states: random.one(["success", "created,started", "cancelled"]),
    ...(random.chance(0.5) && { refund_states: "submitted,success" }),
    ...(random.chance(0.5) && { dispute_states: "won,needs_response" }),
  }),
  type: (random) => ({ transaction_type: random.one(["PAYMENT", "refund", "DISPUTE"]) }),
  payout: (random) => ({ gateway_payout_id: payoutId(random.one(accounts), random.whole(0, payoutMax)) }),
  gateway: (random) => ({ gateway_transaction_id: `gtx-${random.whole(0, 300)}` }),
  settled: (random) =>
    random.chance(0.5) ? { from_settled_date: randomDay(random) } : { to_settled_date: randomDay(random) },
  metadata_value: (random) => ({
    metadata_value: random.one(metadataTexts.filter((text) => text.length < 256)),
  }),
  agreement_id: () => ({ agreement_id: "agr-1" }),
};

function randomFilters(random: Random): Query {
  const [some, other] = [random.one(Object.values(searched)), random.one(Object.values(searched))];
  return { ...(random.chance(0.8) && some(random)), ...(random.chance(0.3) && other(random)) } as Query;
}

const randomSearch = (random: Random): Query =>
  agreed({
    ...(random.chance(0.8) ? someAccounts(random) : { override_account_id_restriction: "true" }),
    ...randomFilters(random),
  });

const randomTable = (random: Random): Query =>
  agreed({
    ...someAccounts(random),
    ...randomFilters(random),
    ...(random.chance(0.5) && { fee_headers: "true" }),
    ...(random.chance(0.5) && { moto_header: "true" }),
  });

/** `failed` and `declined` are of different versions. */
const agreed = (query: Query): Query =>
  query.state === "failed" ? { ...query, status_version: "1" } : { ...query, status_version: "2" };

const path = (id: string, query: Query, below = "") =>
  `/v1/transaction/${encodeURIComponent(id)}${below}?${new URLSearchParams(query)}`;
const searchPath = (query: Query) => `/v1/transaction/?${new URLSearchParams(query)}`;

const reply = (body: unknown): Answered => (body === undefined ? { status: 404 } : { status: 200, body });
const read = ({ status, text }: { status: number; text: string }) =>
  status === 200 ? { status, body: JSON.parse(text) } : { status };

export const lookup = (id: string, query: Query): Question => ({
  said: path(id, query),
  ids: [id],
  ask: async (get) => read(await get(path(id, query))),
  answer: (oracle) => reply(oracle.transaction(id, query)),
});

export const children = (id: string, account: string, query: Query = {}): Question => {
  const asked = path(id, { gateway_account_id: account, ...query }, "/transaction");
  return {
    said: asked,
    ids: [id],
    ask: async (get) => read(await get(asked)),
    answer: (oracle) => reply(oracle.children(id, account, query)),
  };
};

export const eventList = (id: string, account: string, query: Query): Question => {
  const asked = path(id, { gateway_account_id: account, ...query }, "/event");
  return {
    said: asked,
    ids: [id],
    async ask(get) {
      const answered = read(await get(asked));
      for (const event of answered.body?.events ?? []) delete event.event_id;
      return answered;
    },
    answer: (oracle) => reply(oracle.eventList(id, account, query)),
    ...(query.include_all_events === "true" &&
      query.as_of === undefined && {
        neverLess: ({ body }: Answered) => (body as { events: unknown[] } | undefined)?.events.length ?? 0,
      }),
  };
};

const sizeMax = 500;

export function page(query: Query, number: number, size: number): Question {
  const asked = searchPath({ ...query, page: String(number), display_size: String(size) });
  const shown = Math.min(size, sizeMax);
  return {
    said: asked,
    ids: [],
    async ask(get) {
      const answered = read(await get(asked));
      delete answered.body?._links;
      return answered;
    },
    answer(oracle) {
      const all = oracle.matches(query);
      if (all.length > 0 && (number - 1) * shown >= all.length) return reply(undefined);
      const results = all.slice((number - 1) * shown, number * shown);
      return reply({ total: all.length, count: results.length, page: number, results });
    },
  };
}

/** All that a search finds, gathered page by page. */
export function walk(query: Query, size: number, link: "next_page" | "next_cursor"): Question {
  const first = searchPath({ ...query, display_size: String(size) });
  return {
    said: `${first}, by ${link}`,
    ids: [],
    async ask(get) {
      const results: unknown[] = [];
      for (let next: string | undefined = first; next !== undefined; ) {
        const { status, text } = await get(next);
        if (status !== 200) return { status };
        const { results: found, _links: links } = JSON.parse(text);
        results.push(...found);
        const { pathname, search } = new URL(links[link]?.href ?? "none:");
        next = links[link] && pathname + search;
      }
      return { status: 200, body: results };
    },
    answer: (oracle) => reply(oracle.matches(query)),
    ...(link === "next_cursor" && { oddity: toldTwice }),
  };
}

/** By its date a transaction has its place; an older event that arrives can give it another, later one. */
function toldTwice({ body = [] }: Answered): string | undefined {
  const places = (body as { transaction_id: string; created_date: string }[]).map(
    ({ transaction_id, created_date }) => `${transaction_id} of ${created_date}`,
  );
  const twice = places.find((place, index) => places.indexOf(place) !== index);
  return twice && `${twice} is told twice`;
}

export function table(query: Query): Question {
  const asked = searchPath(query);
  return {
    said: `${asked} as CSV`,
    ids: [],
    async ask(get) {
      const { status, text } = await get(asked, "text/csv");
      return status === 200 ? { status, body: parse(text, { relax_column_count: true }) } : { status };
    },
    answer: (oracle) => reply(oracle.table(query)),
  };
}

const bad = [
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
  "/v1/transaction/?account_id=57&unheard_of=1",
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

/** What no reply but 400 is right for. */
function badQuestion(random: Random): Question {
  const asked = random.one(bad);
  return {
    said: asked,
    ids: [],
    ask: async (get) => ({ status: (await get(asked)).status }),
    answer: () => ({ status: 400 }),
  };
}
