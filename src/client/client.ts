import type { defaults as featuresDefaults } from "../../generated/features.defaults.ts";
import { operations as featuresOperations } from "../../generated/features.operations.ts";
import type * as features from "../../generated/features.ts";
import type { defaults as ledgerDefaults } from "../../generated/ledger.defaults.ts";
import { operations as ledgerOperations } from "../../generated/ledger.operations.ts";
import type * as ledger from "../../generated/ledger.ts";
import { type Arguments, type Calls, openCalls } from "./calls.ts";
import { type ChangeRecord, eachStreamed } from "./change-stream.ts";
import type { CallOptions, ClientOptions } from "./options.ts";
import { readBody } from "./response.ts";

export type { components as FeatureComponents } from "../../generated/features.ts";
export type { components as LedgerComponents } from "../../generated/ledger.ts";
export { ConnectionError, type Problem, ResponseError } from "./errors.ts";
export type { CallOptions, ClientOptions, ResponseHead } from "./options.ts";

type FeaturesDefaults = typeof featuresDefaults;
type FeaturesArguments<Id extends keyof features.operations> = Arguments<
  features.operations[Id],
  keyof FeaturesDefaults[Id]
>;

type FlagEvent = features.components["schemas"]["FlagEvent"];

export interface FeaturesClient extends Omit<Calls<features.operations, FeaturesDefaults>, "followFlags"> {
  /** The identifier of every resource that has a feature. Pages are read on demand. */
  eachResource(
    search: Omit<FeaturesArguments<"listResources">, "cursor" | "If-None-Match">,
    options?: CallOptions,
  ): AsyncGenerator<string, void, void>;
  /** Every feature of every resource of a kind. Pages are read on demand. */
  eachEntry(
    search: Omit<FeaturesArguments<"listEntries">, "cursor">,
    options?: CallOptions,
  ): AsyncGenerator<features.components["schemas"]["Entry"], void, void>;
  /**
   * The change records after a cursor, or all of them, up to the newest one. Pages are read on demand. To continue later,
   * pass the cursor of the last record.
   */
  eachChange(
    search?: Omit<FeaturesArguments<"listChanges">, "Last-Event-ID">,
    options?: CallOptions,
  ): AsyncGenerator<ChangeRecord, void, void>;
  /** The change records of a resource that the feed still has, after a cursor or all of them. Pages are read on demand. */
  eachResourceChange(
    search: FeaturesArguments<"listResourceChanges">,
    options?: CallOptions,
  ): AsyncGenerator<ChangeRecord, void, void>;
  /**
   * The change records after a cursor, or all of them, and then each new one as it arrives. It has no end and no timeout,
   * unless `options` have one: the `timeoutMs` of the client does not apply.
   *
   * It throws the reason of `signal` when it aborts, and a `ConnectionError` when the stream breaks: the service has ended
   * it, or nothing has arrived for a minute, although the service sends something every 15 seconds. To continue, pass the
   * cursor of the last record.
   */
  followChanges(
    search?: Omit<FeaturesArguments<"listChanges">, "Last-Event-ID" | "limit">,
    options?: CallOptions,
  ): AsyncGenerator<ChangeRecord, void, void>;
  /**
   * An event at once, and one each time that flags of a resource may have changed: evaluate them again. It has no end and
   * no timeout, and it throws, as `followChanges`.
   */
  followFlags(
    search: FeaturesArguments<"followFlags">,
    options?: CallOptions,
  ): AsyncGenerator<FlagEvent, void, void>;
}

/** A client of the feature storage: a function for each operation of the contract, and iterators over pages and a stream. */
export function featuresClient(options: ClientOptions): FeaturesClient {
  const { calls, readText } = openCalls<features.operations, FeaturesDefaults>(featuresOperations, options);
  return {
    ...calls,
    eachResource: (search, callOptions) =>
      eachItem(
        (position) => calls.listResources({ ...search, ...position }, callOptions),
        ({ ids }) => ids,
        nextCursor,
      ),
    eachEntry: (search, callOptions) =>
      eachItem(
        (position) => calls.listEntries({ ...search, ...position }, callOptions),
        ({ entries }) => entries,
        nextCursor,
      ),
    eachChange: (search = {}, callOptions) =>
      eachItem(
        (position) => calls.listChanges({ ...search, ...position }, callOptions),
        ({ changes }) => changes,
        ({ changes, next_cursor }) => (changes.length > 0 ? next_cursor : undefined),
      ),
    eachResourceChange: (search, callOptions) =>
      eachItem(
        (position) => calls.listResourceChanges({ ...search, ...position }, callOptions),
        ({ changes }) => changes,
        nextCursor,
      ),
    followChanges: (search = {}, callOptions) =>
      eachStreamed<ChangeRecord>({ readText }, "listChanges", search, callOptions),
    followFlags: (search, callOptions) =>
      eachStreamed<FlagEvent>({ readText }, "followFlags", search, callOptions),
  };
}

/** The items of all pages. Each page but the first begins at the cursor of the one before it. */
async function* eachItem<Page, Item>(
  read: (position: { cursor?: string }) => Promise<Page>,
  itemsOf: (page: Page) => Item[],
  nextOf: (page: Page) => string | undefined,
): AsyncGenerator<Item, void, void> {
  let cursor: string | undefined;
  do {
    const page = await read(cursor === undefined ? {} : { cursor });
    yield* itemsOf(page);
    cursor = nextOf(page);
  } while (cursor !== undefined);
}

const nextCursor = (page: { next_cursor?: string }) => page.next_cursor;

type LedgerDefaults = typeof ledgerDefaults;
type LedgerArguments<Id extends keyof LedgerDefaults & keyof ledger.operations> = Arguments<
  ledger.operations[Id],
  keyof LedgerDefaults[Id]
>;
type Search = LedgerArguments<"searchTransactions">;
type Report = LedgerArguments<"getTransactionReport">;
type EventSearch = LedgerArguments<"listEvents">;
type FeedEvent = ledger.components["schemas"]["FeedEvent"];
type AgreementSearch = LedgerArguments<"searchAgreements">;

export interface LedgerClient extends Calls<ledger.operations, LedgerDefaults> {
  /**
   * Every transaction that matches a search, without gaps or duplicates, whatever arrives meanwhile. Pages are read on
   * demand.
   */
  eachTransaction(
    search: Omit<Search, "page" | "cursor" | "extended">,
    options?: CallOptions,
  ): AsyncGenerator<ledger.components["schemas"]["TransactionView"], void, void>;
  /** All matches of a search as CSV, in pieces as they arrive. The timeout is that of the whole CSV. */
  exportTransactions(
    search: Omit<Search, "page" | "cursor" | "extended" | "display_size">,
    options?: CallOptions,
  ): AsyncGenerator<string, void, void>;
  /** Every agreement that matches a search, without gaps or duplicates, whatever arrives meanwhile. Pages are read on demand. */
  eachAgreement(
    search: Omit<AgreementSearch, "page" | "cursor" | "extended">,
    options?: CallOptions,
  ): AsyncGenerator<ledger.components["schemas"]["Agreement"], void, void>;
  /**
   * The stored events after a cursor, or all of them, up to the newest one, each once. Pages are read on demand. To continue
   * later, pass the cursor of the last event.
   */
  eachEvent(
    search?: Omit<EventSearch, "Last-Event-ID">,
    options?: CallOptions,
  ): AsyncGenerator<FeedEvent, void, void>;
  /**
   * The stored events after a cursor, or all of them, and then each new one as it is stored. It has no end and no timeout,
   * and it throws, as `followChanges` of the feature storage. To continue, pass the cursor of the last event.
   */
  followEvents(
    search?: Omit<EventSearch, "Last-Event-ID" | "limit">,
    options?: CallOptions,
  ): AsyncGenerator<FeedEvent, void, void>;
  /** Every group of a report. Pages are read on demand; each is as of its own moment. */
  eachGroup(
    report: Omit<Report, "cursor">,
    options?: CallOptions,
  ): AsyncGenerator<ledger.components["schemas"]["TransactionGroup"], void, void>;
  /** All groups of a report as CSV, in pieces as they arrive. The timeout is that of the whole CSV. */
  exportGroups(
    report: Omit<Report, "cursor" | "display_size">,
    options?: CallOptions,
  ): AsyncGenerator<string, void, void>;
}

/** The cursor in the link of a list to its next page. */
const linkedCursor = ({ _links }: { _links?: { next_cursor?: { href: string } } }) => {
  const next = _links?.next_cursor?.href;
  return (next && new URL(next).searchParams.get("cursor")) || undefined;
};

/**
 * A client of the payment ledger: a function for each operation of the contract, and iterators over searches and reports.
 */
export function ledgerClient(options: ClientOptions): LedgerClient {
  const { calls, readText } = openCalls<ledger.operations, LedgerDefaults>(ledgerOperations, options);
  const readEvent = (text: string) => readBody({ type: "json", bigints: [["event_id"]] }, text) as FeedEvent;
  return {
    ...calls,
    eachTransaction: (search, callOptions) =>
      eachItem(
        (position) => calls.searchTransactions({ ...search, ...position, extended: true }, callOptions),
        ({ results }) => results,
        linkedCursor,
      ),
    exportTransactions: (search, callOptions) =>
      readText("searchTransactions", search, "text/csv", callOptions),
    eachAgreement: (search, callOptions) =>
      eachItem(
        (position) => calls.searchAgreements({ ...search, ...position, extended: true }, callOptions),
        ({ results }) => results,
        linkedCursor,
      ),
    eachEvent: (search = {}, callOptions) =>
      eachItem(
        (position) => calls.listEvents({ ...search, ...position }, callOptions),
        ({ events }) => events,
        ({ next_cursor, has_more }) => (has_more ? next_cursor : undefined),
      ),
    followEvents: (search = {}, callOptions) =>
      eachStreamed<FeedEvent>({ readText }, "listEvents", search, callOptions, readEvent),
    eachGroup: (report, callOptions) =>
      eachItem(
        (position) => calls.getTransactionReport({ ...report, ...position }, callOptions),
        ({ groups }) => groups,
        linkedCursor,
      ),
    exportGroups: (report, callOptions) => readText("getTransactionReport", report, "text/csv", callOptions),
  };
}
