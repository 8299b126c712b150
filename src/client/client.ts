import featuresContract from "../../generated/features.json" with { type: "json" };
import type * as features from "../../generated/features.ts";
import ledgerContract from "../../generated/ledger.json" with { type: "json" };
import type * as ledger from "../../generated/ledger.ts";
import type { Contract } from "../contract/operations.ts";
import { type Arguments, type CallOptions, type Calls, type ClientOptions, openCalls } from "./calls.ts";

export type { components as FeatureComponents } from "../../generated/features.ts";
export type { components as LedgerComponents } from "../../generated/ledger.ts";
export type { CallOptions, ClientOptions, ReplyHead } from "./calls.ts";
export { type Problem, ReplyError } from "./reply.ts";

type FeaturesArguments<Id extends keyof features.operations> = Arguments<
  features.operations[Id],
  features.defaulted[Id]
>;

export interface FeaturesClient extends Calls<features.operations, features.defaulted> {
  /** The identifier of every resource that has a feature, read page by page as they are asked for. */
  eachResource(
    search: Omit<FeaturesArguments<"listResources">, "cursor" | "If-None-Match">,
    options?: CallOptions,
  ): AsyncGenerator<string, void, void>;
  /**
   * Every change behind a cursor, or every one that is kept, read page by page as they are asked for, until there are no
   * more now. To go on later, give the cursor of the last one that was seen.
   */
  eachChange(
    search?: Omit<FeaturesArguments<"listChanges">, "Last-Event-ID">,
    options?: CallOptions,
  ): AsyncGenerator<features.components["schemas"]["Change"], void, void>;
}

/** A client of the feature storage: a function for each operation of its contract, and two that walk through pages. */
export function featuresClient(options: ClientOptions): FeaturesClient {
  const { calls } = openCalls<features.operations, features.defaulted>(
    featuresContract as unknown as Contract,
    options,
  );
  return {
    ...calls,
    async *eachResource(search, callOptions) {
      let cursor: string | undefined;
      do {
        const page = await calls.listResources({ ...search, cursor }, callOptions);
        yield* page.ids;
        cursor = page.next_cursor;
      } while (cursor !== undefined);
    },
    async *eachChange(search = {}, callOptions = {}) {
      let { cursor } = search;
      for (;;) {
        const page = await calls.listChanges({ ...search, cursor }, callOptions);
        if (page.changes.length === 0) return;
        yield* page.changes;
        cursor = page.next_cursor;
      }
    },
  };
}

type Search = Arguments<ledger.operations["searchTransactions"], ledger.defaulted["searchTransactions"]>;

export interface LedgerClient extends Calls<ledger.operations, ledger.defaulted> {
  /**
   * Every transaction that a search finds, read page by page as they are asked for. None is passed over and none shown
   * twice, whatever arrives meanwhile.
   */
  eachTransaction(
    search: Omit<Search, "page" | "cursor">,
    options?: CallOptions,
  ): AsyncGenerator<ledger.components["schemas"]["TransactionView"], void, void>;
  /** What a search finds as CSV, in pieces as they arrive. The time limit is that of the whole table. */
  exportTransactions(
    search: Omit<Search, "page" | "cursor" | "display_size">,
    options?: CallOptions,
  ): AsyncGenerator<string, void, void>;
}

/** A client of the payment ledger: a function for each operation of its contract, and two for long searches. */
export function ledgerClient(options: ClientOptions): LedgerClient {
  const { calls, readText } = openCalls<ledger.operations, ledger.defaulted>(
    ledgerContract as unknown as Contract,
    options,
  );
  return {
    ...calls,
    async *eachTransaction(search, callOptions) {
      let cursor: string | null | undefined;
      do {
        const page = await calls.searchTransactions({ ...search, ...(cursor && { cursor }) }, callOptions);
        yield* page.results;
        const next = page._links.next_cursor?.href;
        cursor = next && new URL(next).searchParams.get("cursor");
      } while (cursor);
    },
    exportTransactions: (search, callOptions) =>
      readText("searchTransactions", search, "text/csv", callOptions),
  };
}
