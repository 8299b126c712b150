import { type Column, Empty, Table, Time } from "../elements.tsx";
import { formatCount, formatMoney, formatName } from "../format.ts";
import type { Place } from "../fragment.ts";
import { Show, useKept } from "../load.tsx";
import { Pagination } from "../pagination.tsx";
import { Heading } from "../view.tsx";
import { useAccounts } from "./accounts.tsx";
import { cursorIn, type Transaction, transactionFragment, useClient } from "./client.ts";
import { CsvDownload } from "./csv-download.tsx";
import { cardOf, payerOf, referenceOf } from "./payer.ts";
import { filtersIn, SearchForm } from "./search-form.tsx";
import { State } from "./state.tsx";
import { TransactionView } from "./transaction.tsx";

const pageSize = 50;
/** Counting more would take long. */
const totalMax = 10_000;

/** `#/transactions` is a search, `#/transactions/ID` a transaction. */
export const Transactions = (place: Place) =>
  place.path.length > 1 ? (
    <TransactionView {...place} key={place.path[1]} />
  ) : (
    <TransactionSearch {...place} />
  );

function TransactionSearch({ parameters }: Place) {
  const client = useClient();
  const search = { ...filtersIn(parameters), ...useAccounts(parameters.get("account_id")) };
  const cursor = parameters.get("cursor") ?? undefined;
  const counting = { limit_total: true, limit_total_size: totalMax };
  const results = useKept(`search ${parameters}`, (signal) =>
    client.searchTransactions(
      { ...search, ...counting, cursor, display_size: pageSize, extended: true },
      { signal },
    ),
  );
  return (
    <>
      <Heading>Transactions</Heading>
      <SearchForm parameters={parameters} />
      <Show of={results} name="transactions">
        {({ results: found, total, page, _links }) =>
          found.length === 0 ? (
            <Empty>No transaction matches this search. Fewer filters or a longer period may find some.</Empty>
          ) : (
            <>
              <div class="above">
                <p role="status">
                  {total >= totalMax ? `${formatCount(totalMax)} or more` : formatCount(total)}{" "}
                  {total === 1 ? "transaction" : "transactions"}, page {page}
                </p>
                {"account_id" in search && <CsvDownload search={search} fileName="transactions.csv" />}
              </div>
              <Table
                label="Transactions"
                columns={columns}
                rows={found}
                keyOf={({ transaction_id }) => transaction_id}
              />
              <Pagination path={["transactions"]} parameters={parameters} next={cursorIn(_links)} />
            </>
          )
        }
      </Show>
    </>
  );
}

const columns: Column<Transaction>[] = [
  { name: "Created", cell: ({ created_date }) => <Time at={created_date} /> },
  {
    name: "Reference",
    isHeader: true,
    cell: (transaction) => (
      <a href={transactionFragment(transaction.transaction_id, transaction.gateway_account_id)}>
        {referenceOf(transaction)}
      </a>
    ),
  },
  { name: "Type", class: "wide", cell: ({ transaction_type }) => formatName(transaction_type) },
  { name: "Email", class: "wide", cell: (transaction) => payerOf(transaction).email },
  { name: "Card", class: "wide", cell: cardOf },
  { name: "State", cell: ({ state }) => <State status={state.status} /> },
  { name: "Amount", class: "number", cell: ({ amount }) => amount !== undefined && formatMoney(amount) },
];
