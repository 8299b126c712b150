import { formatCount, formatMoney, formatName } from "../format.ts";
import { fragmentOf } from "../fragment.ts";
import { Empty, Show, useLoaded } from "../load.tsx";
import { Heading, type ViewProps } from "../page.tsx";
import { Pages } from "../pages.tsx";
import { useSession } from "../session.ts";
import { Table } from "../table.tsx";
import { Time } from "../time.tsx";
import { CsvDownload } from "./csv-download.tsx";
import { accountsOf, clientFor, cursorIn, type Transaction } from "./ledger.ts";
import { Payment } from "./payment.tsx";
import { filtersIn, SearchForm } from "./search-form.tsx";
import { State } from "./state.tsx";

const pageSize = 50;
/** Counting more would take long. */
const totalMax = 10_000;

/** `#/transactions` is a search, `#/transactions/ID` a transaction. */
export const Transactions = (props: ViewProps) =>
  props.place.path.length > 1 ? <Payment {...props} key={props.place.path[1]} /> : <SearchPage {...props} />;

function SearchPage({ place: { parameters }, visit }: ViewProps) {
  const session = useSession();
  const search = { ...filtersIn(parameters), ...accountsOf(parameters.get("account_id"), session) };
  const cursor = parameters.get("cursor") ?? undefined;
  const results = useLoaded(
    `search ${parameters}`,
    (signal) =>
      clientFor(session).searchTransactions(
        {
          ...search,
          display_size: pageSize,
          limit_total: true,
          limit_total_size: totalMax,
          extended: true,
          ...(cursor !== undefined && { cursor }),
        },
        { signal },
      ),
    visit,
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
                {"account_id" in search && <CsvDownload search={search} name="transactions.csv" />}
              </div>
              <Table label="Transactions" head={columns}>
                {found.map((transaction) => (
                  <Row key={transaction.transaction_id} transaction={transaction} />
                ))}
              </Table>
              <Pages
                fragmentOfPage={(next) =>
                  fragmentOf(["transactions"], { ...Object.fromEntries(parameters), cursor: next })
                }
                current={cursor}
                next={cursorIn(_links)}
              />
            </>
          )
        }
      </Show>
    </>
  );
}

const columns = (
  <>
    <th scope="col">Created</th>
    <th scope="col">Reference</th>
    <th scope="col" class="wide">
      Type
    </th>
    <th scope="col" class="wide">
      Email
    </th>
    <th scope="col" class="wide">
      Card
    </th>
    <th scope="col">State</th>
    <th scope="col" class="money">
      Amount
    </th>
  </>
);

function Row({ transaction }: { transaction: Transaction }) {
  const { transaction_id, transaction_type, created_date, state, amount, gateway_account_id } = transaction;
  const payer = transaction.transaction_type === "PAYMENT" ? transaction : transaction.payment_details;
  const { card_brand, last_digits_card_number } = payer.card_details ?? {};
  return (
    <tr>
      <td>
        <Time at={created_date} />
      </td>
      <th scope="row">
        <a href={fragmentOf(["transactions", transaction_id], { account_id: gateway_account_id })}>
          {payer.reference || transaction_id}
        </a>
      </th>
      <td class="wide">{formatName(transaction_type)}</td>
      <td class="wide">{payer.email}</td>
      <td class="wide">
        {card_brand} {last_digits_card_number && `•${last_digits_card_number}`}
      </td>
      <td>
        <State status={state.status} />
      </td>
      <td class="money">{amount !== undefined && formatMoney(amount)}</td>
    </tr>
  );
}
