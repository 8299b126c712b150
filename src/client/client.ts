import featuresContract from "../../generated/features.json" with { type: "json" };
import type * as features from "../../generated/features.ts";
import ledgerContract from "../../generated/ledger.json" with { type: "json" };
import type * as ledger from "../../generated/ledger.ts";
import type { Contract } from "../service/operations.ts";
import { type Arguments, type CallOptions, type Calls, type ClientOptions, openCalls } from "./calls.ts";

export type { components as FeatureComponents } from "../../generated/features.ts";
export type { components as LedgerComponents } from "../../generated/ledger.ts";
export type { CallOptions, ClientOptions } from "./calls.ts";
export { type Problem, ReplyError } from "./reply.ts";

export type FeaturesClient = Calls<features.operations, features.defaulted>;

/** A client of the feature storage: a function for each operation of its contract. */
export function featuresClient(options: ClientOptions): FeaturesClient {
  return openCalls<features.operations, features.defaulted>(featuresContract as unknown as Contract, options)
    .calls;
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
