import type { defaults as featuresDefaults } from "../../generated/features.defaults.ts";
import { operations as featuresOperations } from "../../generated/features.operations.ts";
import type * as features from "../../generated/features.ts";
import type { defaults as ledgerDefaults } from "../../generated/ledger.defaults.ts";
import { operations as ledgerOperations } from "../../generated/ledger.operations.ts";
import type * as ledger from "../../generated/ledger.ts";
import { type Arguments, type Calls, openCalls } from "./calls.ts";
import { type ChangeRecord, eachStreamed, eventPieces, type FeatureCalls } from "./change-stream.ts";
import type { CallOptions, ClientOptions } from "./options.ts";
import { readBody } from "./response.ts";

export type { components as FeatureComponents } from "../../generated/features.ts";
export type { components as LedgerComponents } from "../../generated/ledger.ts";
export * from "../../generated/problem-errors.ts";
export { ConnectionError } from "./errors.ts";
export type { CallOptions, ClientOptions, ResponseHead } from "./options.ts";
export { type Problem, ResponseError } from "./response-error.ts";

type FeaturesDefaults = typeof featuresDefaults;
type FeaturesSearch<Id extends keyof FeaturesDefaults, Without extends string = never> = Omit<
  Arguments<features.operations[Id], keyof FeaturesDefaults[Id]>,
  Without
>;
type FlagEvent = features.components["schemas"]["FlagEvent"];

const featuresIterators = ({ calls, readText }: FeatureCalls) => ({
  /** Every kind of resource that has a feature. Pages are read on demand. */
  eachKind: (search: FeaturesSearch<"listKinds", "cursor" | "If-None-Match"> = {}, options?: CallOptions) =>
    eachItem(calls.listKinds, search, options, "kinds", nextCursor),
  /** Every feature that resources of a kind have, with the number of these resources. Pages are read on demand. */
  eachFeatureInUse: (
    search: FeaturesSearch<"listFeaturesInUse", "cursor" | "If-None-Match">,
    options?: CallOptions,
  ) => eachItem(calls.listFeaturesInUse, search, options, "features", nextCursor),
  /** The identifier of every resource that has a feature. Pages are read on demand. */
  eachResource: (
    search: FeaturesSearch<"listResources", "cursor" | "If-None-Match">,
    options?: CallOptions,
  ) => eachItem(calls.listResources, search, options, "ids", nextCursor),
  /** Every feature of every resource of a kind. Pages are read on demand. */
  eachEntry: (search: FeaturesSearch<"listEntries", "cursor">, options?: CallOptions) =>
    eachItem(calls.listEntries, search, options, "entries", nextCursor),
  /**
   * The change records after a cursor, or all of them, up to the newest one. Pages are read on demand. To continue later,
   * pass the cursor of the last record.
   */
  eachChange: (search: FeaturesSearch<"listChanges", "Last-Event-ID" | "last"> = {}, options?: CallOptions) =>
    eachItem(calls.listChanges, search, options, "changes", ({ changes, next_cursor }) =>
      changes.length > 0 ? next_cursor : undefined,
    ),
  /** The change records of a resource that the feed still has, after a cursor or all of them. Pages are read on demand. */
  eachResourceChange: (search: FeaturesSearch<"listResourceChanges">, options?: CallOptions) =>
    eachItem(calls.listResourceChanges, search, options, "changes", nextCursor),
  /**
   * The change records after a cursor, or all of them, and then each new one as it arrives. It has no end and no timeout,
   * unless `options` have one: the `timeoutMs` of the client does not apply.
   *
   * It throws the reason of `signal` when it aborts, and a `ConnectionError` when the stream breaks: the service has ended
   * it, or nothing has arrived for a minute, although the service sends something every 15 seconds. To continue, pass the
   * cursor of the last record.
   */
  followChanges: (
    search: FeaturesSearch<"listChanges", "Last-Event-ID" | "limit"> = {},
    options?: CallOptions,
  ) => eachStreamed(eventPieces<ChangeRecord>(readText, "listChanges", search, options), options),
  /**
   * An event at once, and one each time that flags of a resource may have changed: evaluate them again. It has no end and
   * no timeout, and it throws, as `followChanges`.
   */
  followFlags: (search: FeaturesSearch<"followFlags">, options?: CallOptions) =>
    eachStreamed(eventPieces<FlagEvent>(readText, "followFlags", search, options), options),
});

export interface FeaturesClient
  extends Omit<Calls<features.operations, FeaturesDefaults>, "followFlags">,
    ReturnType<typeof featuresIterators> {}

/** A client of the feature storage: a function for each operation of the contract, and iterators over pages and a stream. */
export function featuresClient(options: ClientOptions): FeaturesClient {
  const opened = openCalls<features.operations, FeaturesDefaults>(featuresOperations, options);
  return { ...opened.calls, ...featuresIterators(opened) };
}

/** The items of all pages. Each page but the first begins at the cursor of the one before it. */
async function* eachItem<Search extends object, Name extends string, Page extends Record<Name, unknown[]>>(
  list: (search: Search & { cursor?: string }, options?: CallOptions) => Promise<Page>,
  search: Search,
  options: CallOptions | undefined,
  items: Name,
  nextOf: (page: Page) => string | undefined,
): AsyncGenerator<Page[Name][number], void, void> {
  let cursor: string | undefined;
  do {
    const page = await list(cursor === undefined ? search : { ...search, cursor }, options);
    yield* page[items] as Page[Name][number][];
    cursor = nextOf(page);
  } while (cursor !== undefined);
}

const nextCursor = (page: { next_cursor?: string }) => page.next_cursor;

type LedgerDefaults = typeof ledgerDefaults;
type LedgerSearch<Id extends keyof LedgerDefaults, Without extends string> = Omit<
  Arguments<ledger.operations[Id], keyof LedgerDefaults[Id]>,
  Without
>;
type LedgerCalls = ReturnType<typeof openCalls<ledger.operations, LedgerDefaults>>;
type FeedEvent = ledger.components["schemas"]["FeedEvent"];

type TransactionSearch = LedgerSearch<"searchTransactions", "page" | "card_brand" | "If-None-Match">;

/** Proxies take request lines of 8,000 bytes (RFC 9112, section 3), in which a character can have nine. */
const searchMax = 2500;

/** Searches transactions, with the method QUERY if the search is too long for a URL. */
const byUrlOrBody =
  ({ searchTransactions, queryTransactions }: LedgerCalls["calls"]) =>
  (search: TransactionSearch, options?: CallOptions) =>
    JSON.stringify(search).length > searchMax
      ? queryTransactions({ body: search }, options)
      : searchTransactions(search, options);

const ledgerIterators = ({ calls, readText }: LedgerCalls) => ({
  /**
   * Every transaction that matches a search, without gaps or duplicates, whatever arrives meanwhile. Pages are read on
   * demand. A search that is too long for a URL is sent with the method QUERY.
   */
  eachTransaction: (search: Omit<TransactionSearch, "cursor" | "extended">, options?: CallOptions) =>
    eachItem(byUrlOrBody(calls), { ...search, extended: true }, options, "results", linkedCursor),
  /** All matches of a search as CSV, in pieces as they arrive. The timeout is that of the whole CSV. */
  exportTransactions: (
    search: LedgerSearch<"searchTransactions", "page" | "cursor" | "extended" | "display_size">,
    options?: CallOptions,
  ) => readText("searchTransactions", search, "text/csv", options),
  /** Every agreement that matches a search, without gaps or duplicates, whatever arrives meanwhile. Pages are read on demand. */
  eachAgreement: (
    search: LedgerSearch<"searchAgreements", "page" | "cursor" | "extended">,
    options?: CallOptions,
  ) => eachItem(calls.searchAgreements, { ...search, extended: true }, options, "results", linkedCursor),
  /**
   * The stored events after a cursor, or all of them, up to the newest one, each once. Pages are read on demand. To continue
   * later, pass the cursor of the last event.
   */
  eachEvent: (search: LedgerSearch<"listEvents", "Last-Event-ID"> = {}, options?: CallOptions) =>
    eachItem(calls.listEvents, search, options, "events", ({ next_cursor, has_more }) =>
      has_more ? next_cursor : undefined,
    ),
  /**
   * The stored events after a cursor, or all of them, and then each new one as it is stored. It has no end and no timeout,
   * and it throws, as `followChanges` of the feature storage. To continue, pass the cursor of the last event.
   */
  followEvents: (search: LedgerSearch<"listEvents", "Last-Event-ID" | "limit"> = {}, options?: CallOptions) =>
    eachStreamed(eventPieces(readText, "listEvents", search, options, readEvent), options),
  /** Every group of a report. Pages are read on demand; each is as of its own moment, unless `known_at` is given. */
  eachGroup: (report: LedgerSearch<"getTransactionReport", "cursor">, options?: CallOptions) =>
    eachItem(calls.getTransactionReport, report, options, "groups", linkedCursor),
  /** All groups of a report as CSV, in pieces as they arrive. The timeout is that of the whole CSV. */
  exportGroups: (
    report: LedgerSearch<"getTransactionReport", "cursor" | "display_size">,
    options?: CallOptions,
  ) => readText("getTransactionReport", report, "text/csv", options),
});

const readEvent = (text: string) => readBody({ type: "json", bigints: [["event_id"]] }, text) as FeedEvent;

/** The cursor in the link of a list to its next page. */
const linkedCursor = ({ _links }: { _links?: { next_cursor?: { href: string } } }) => {
  const next = _links?.next_cursor?.href;
  return (next && new URL(next).searchParams.get("cursor")) || undefined;
};

export interface LedgerClient
  extends Calls<ledger.operations, LedgerDefaults>,
    ReturnType<typeof ledgerIterators> {}

/**
 * A client of the payment ledger: a function for each operation of the contract, and iterators over searches and reports.
 */
export function ledgerClient(options: ClientOptions): LedgerClient {
  const opened = openCalls<ledger.operations, LedgerDefaults>(ledgerOperations, options);
  return { ...opened.calls, ...ledgerIterators(opened) };
}
