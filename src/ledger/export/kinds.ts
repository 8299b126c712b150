import type { Sql } from "../../database/database.ts";
import type { Currency } from "../../values/currency.ts";
import { type Writer, writer } from "../../values/json-writer.ts";
import type { Known } from "../past/known.ts";
import { walkEvents, walkPayouts, walkTransactions } from "../past/walk.ts";
import type { WholeEvent } from "../tables/event.ts";
import { knownOthers, withTables } from "../tables/known/view.ts";
import { type Place, placeOfEvent, type Walked } from "../tables/known/walk.ts";
import { metadataKeysOf } from "../tables/metadata-key.ts";
import type { FoundPayout } from "../tables/payout.ts";
import { placeOf, type ReportedTransaction } from "../tables/reported-transaction.ts";
import { csvColumnNames, viewCsv } from "../views/csv.ts";
import { wholeEventWriter } from "../views/event.ts";
import {
  type Column,
  eventColumns,
  payoutColumns,
  payoutSums,
  transactionColumns,
  transactionSums,
} from "../views/exported.ts";
import { viewPayout } from "../views/payout.ts";
import { Reported } from "../views/reported.ts";
import { reportedWriter } from "../views/transaction.ts";
import type { CsvLines } from "./encoders.ts";
import type { TallyForm } from "./tally.ts";

/** What is exported of a ledger, in this order, each in files of its own. */
export type KindName = "transactions" | "events" | "payouts";

/** A kind of rows of a walk, and how they are read and shown. A row that was read is valid until the next one is. */
export interface Kind<Row, Shown> {
  name: KindName;
  walk(known: Known, walked: Walked, after: Place | undefined): AsyncGenerator<Row[]>;
  placeOf(row: Row): Place;
  read(row: Row): Shown;
  json: Writer<Shown, unknown>;
  columns: Column<Shown>[];
  /** The lines of CSV, if they have other columns. */
  csv?: (known: Known, account: string | undefined, currency: Currency) => Promise<CsvLines<Row, Shown>>;
  tally: TallyForm;
  sums(shown: Shown): { group: string[]; sums: bigint[] };
}

const shown = new Reported();

const transactions: Kind<ReportedTransaction, Reported> = {
  name: "transactions",
  walk: walkTransactions,
  placeOf(row) {
    const { created_date, external_id } = placeOf(row).position;
    return { instant: created_date, id: external_id };
  },
  read: (row) => shown.read(row),
  json: reportedWriter,
  columns: transactionColumns,
  csv: csvOfTransactions,
  tally: { groups: ["transaction_type", "state"], sums: ["amount", "total_amount"] },
  sums: transactionSums,
};

const events: Kind<WholeEvent, WholeEvent> = {
  name: "events",
  walk: walkEvents,
  placeOf: placeOfEvent,
  read: (row) => row,
  json: wholeEventWriter,
  columns: eventColumns,
  tally: { groups: ["resource_type", "event_type"], sums: [] },
  sums: ({ resource_type, event_type }) => ({ group: [resource_type, event_type], sums: [] }),
};

const payouts: Kind<FoundPayout, FoundPayout> = {
  name: "payouts",
  walk: walkPayouts,
  placeOf: ({ created_date, gateway_payout_id }) => ({ instant: created_date, id: gateway_payout_id }),
  read: (row) => row,
  json: writer((payout, out) => {
    out.json(viewPayout(payout));
    return true;
  }),
  columns: payoutColumns,
  tally: { groups: ["state"], sums: ["amount"] },
  sums: payoutSums,
};

export const kinds = [transactions, events, payouts] as unknown as Kind<unknown, unknown>[];

/** Maximum number of columns for metadata keys, as in the CSV of the API. */
const metadataColumnsMax = 100;

/** Every column that the CSV of the API can have. All accounts together have too many metadata keys for columns. */
async function csvOfTransactions(
  { sql, position }: Known,
  account: string | undefined,
  currency: Currency,
): Promise<CsvLines<ReportedTransaction, Reported>> {
  const then: Sql = withTables(sql, knownOthers(position));
  const keys = account === undefined ? [] : await metadataKeysOf(then, [account], metadataColumnsMax + 1);
  const metadataKeys = keys.slice(0, metadataColumnsMax);
  const columns = csvColumnNames(metadataKeys, true);
  const form = { separator: "comma", byte_order_mark: false } as const;
  const headers = { fee_headers: true, moto_header: true, currency_header: true };
  const { header, writeLine } = viewCsv(
    { columns, metadataKeys, hasOtherMetadata: true, ...headers, ...form },
    currency,
  );
  return { header, writeLine: (row, _shown, out) => writeLine(row, out) };
}
