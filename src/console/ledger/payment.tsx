import { formatDay, formatMoney, formatName } from "../format.ts";
import { fragmentOf } from "../fragment.ts";
import { replacePlace } from "../history.ts";
import { Empty, Show, useLoaded } from "../load.tsx";
import { Heading, type ViewProps } from "../page.tsx";
import { RawJson } from "../raw-json.tsx";
import { useSession } from "../session.ts";
import { Facts, Table } from "../table.tsx";
import { Time } from "../time.tsx";
import { CsvDownload } from "./csv-download.tsx";
import { accountsOf, clientFor, cursorIn, type Search, type Transaction } from "./ledger.ts";
import { PayoutCheck } from "./payout-check.tsx";
import { createdBetween } from "./periods.ts";
import { State } from "./state.tsx";
import { Timeline } from "./timeline.tsx";

/** One transaction: `#/transactions/ID`, with its account and, for an earlier state, `as_of`. */
export function Payment({ place, visit }: ViewProps) {
  const session = useSession();
  const { parameters } = place;
  const [, id = ""] = place.path;
  const asOf = parameters.get("as_of") ?? undefined;
  const transaction = useLoaded(
    `transaction ${id} ${parameters}`,
    async (signal) => {
      const accounts = accountsOf(parameters.get("account_id"), session);
      const account = "account_id" in accounts ? { account_id: accounts.account_id[0] } : accounts;
      return clientFor(session).getTransaction(
        { transactionExternalId: id, ...account, ...(asOf !== undefined && { as_of: asOf }) },
        { signal },
      );
    },
    visit,
  );
  const found = "value" in transaction ? transaction.value : undefined;
  return (
    <>
      <Heading title={`Transaction ${id}`}>
        {found ? `${formatName(found.transaction_type)} ${referenceOf(found)}` : `Transaction ${id}`}{" "}
        {found && <State status={found.state.status} />}
      </Heading>
      <Show of={transaction} name="transaction">
        {(found) => (
          <>
            <div class="above">
              <RawJson value={found} />
              {found.gateway_account_id !== undefined && (
                <CsvDownload search={searchFor(found, found.gateway_account_id)} name={`${id}.csv`} />
              )}
            </div>
            <Summary transaction={found} />
            {found.gateway_account_id !== undefined && (
              <Related
                transaction={found}
                account={found.gateway_account_id}
                asOf={asOf}
                visit={visit}
                onAsOf={(instant) =>
                  replacePlace(
                    fragmentOf(["transactions", id], {
                      account_id: found.gateway_account_id,
                      as_of: instant,
                    }),
                  )
                }
              />
            )}
          </>
        )}
      </Show>
    </>
  );
}

/** The search for a transaction: it has the account, the type and the millisecond of its creation. */
const searchFor = ({ transaction_type, created_date }: Transaction, account: string): Search => {
  const created = new Date(created_date);
  return {
    account_id: [account],
    transaction_type,
    ...createdBetween(created, new Date(created.getTime() + 1)),
  };
};

const payerOf = (transaction: Transaction) =>
  transaction.transaction_type === "PAYMENT" ? transaction : transaction.payment_details;
const referenceOf = (transaction: Transaction) =>
  payerOf(transaction).reference ?? transaction.transaction_id;

const money = (pence: number | undefined | null) =>
  pence === undefined || pence === null ? undefined : <span class="money">{formatMoney(pence)}</span>;

function Summary({ transaction }: { transaction: Transaction }) {
  const payer = payerOf(transaction);
  const { card_brand, last_digits_card_number, cardholder_name, expiry_date } = payer.card_details ?? {};
  const { state, gateway_account_id: account_id } = transaction;
  const isPayment = transaction.transaction_type === "PAYMENT";
  const parent = isPayment ? undefined : transaction.parent_transaction_id;
  return (
    <Facts
      facts={[
        ["Amount", money(transaction.amount)],
        ["Total with surcharge", isPayment && money(transaction.total_amount)],
        ["Fee", "fee" in transaction && money(transaction.fee)],
        ["Net amount", "net_amount" in transaction && money(transaction.net_amount)],
        ["Description", payer.description],
        ["Created", <Time key="created" at={transaction.created_date} />],
        ["Reason", state.message && `${state.message} (${state.code})`],
        ["Email", payer.email],
        [
          "Card",
          [card_brand, last_digits_card_number && `•${last_digits_card_number}`].filter(Boolean).join(" "),
        ],
        ["Name on the card", cardholder_name],
        ["Card expires", expiry_date],
        ["Payment", parent && <a href={fragmentOf(["transactions", parent], { account_id })}>{parent}</a>],
        ["Refunded by", refunderOf(transaction)],
        ["Dispute reason", "reason" in transaction && transaction.reason && formatName(transaction.reason)],
        [
          "Evidence due",
          "evidence_due_date" in transaction && transaction.evidence_due_date && (
            <Time at={transaction.evidence_due_date} />
          ),
        ],
        ["Refundable", isPayment && money(transaction.refund_summary?.amount_available)],
        ["Refunded", isPayment && money(transaction.refund_summary?.amount_refunded)],
        ["Account", account_id],
        ["Service", transaction.service_id],
        ["Provider", isPayment && transaction.payment_provider],
        ["Provider's id", transaction.gateway_transaction_id],
        ["Id", transaction.transaction_id],
        [
          "Agreement",
          isPayment && transaction.agreement_id && (
            <a href={fragmentOf(["transactions"], { account_id, agreement_id: transaction.agreement_id })}>
              {transaction.agreement_id}
            </a>
          ),
        ],
        ["Real money", transaction.live === undefined ? undefined : transaction.live ? "Yes" : "No"],
        ...metadataOf(transaction),
      ]}
    />
  );
}

const refunderOf = (transaction: Transaction) =>
  transaction.transaction_type === "REFUND"
    ? (transaction.refunded_by_user_email ?? transaction.refunded_by)
    : undefined;

const metadataOf = (transaction: Transaction): [string, string][] =>
  "metadata" in transaction
    ? Object.entries(transaction.metadata ?? {}).map(([name, value]) => [`Metadata: ${name}`, String(value)])
    : [];

interface RelatedProps {
  transaction: Transaction;
  account: string;
  asOf: string | undefined;
  visit: ViewProps["visit"];
  onAsOf: (instant: string | undefined) => void;
}

/** Settlement, refunds and disputes, and the timeline of a transaction. */
function Related({ transaction, account, asOf, visit, onAsOf }: RelatedProps) {
  const session = useSession();
  const { transaction_id: id } = transaction;
  const events = useLoaded(
    `events ${account} ${id}`,
    async (signal) => {
      const client = clientFor(session);
      const page = (cursor?: string, options = {}) =>
        client.listTransactionEvents(
          {
            transactionExternalId: id,
            gateway_account_id: account,
            include_all_events: true,
            extended: true,
            ...(cursor !== undefined && { cursor }),
          },
          options,
        );
      // The signal is that of the first page only: the others are read when the reader comes back, too.
      const first = await page(undefined, { signal });
      return { events: first.events, next: cursorIn(first._links), page };
    },
    visit,
  );
  return (
    <>
      <Settlement transaction={transaction} account={account} />
      {transaction.transaction_type === "PAYMENT" && (
        <Children parent={id} account={account} visit={visit} isPast={asOf !== undefined} />
      )}
      <h2>Timeline</h2>
      <Show of={events} name="events">
        {(list) => <Timeline first={list} asOf={asOf} onAsOf={onAsOf} />}
      </Show>
    </>
  );
}

function Settlement({ transaction, account }: { transaction: Transaction; account: string }) {
  const { settlement_summary: settlement } = transaction;
  const payout = "gateway_payout_id" in transaction ? transaction.gateway_payout_id : undefined;
  const submitted = "capture_submit_time" in settlement ? settlement.capture_submit_time : undefined;
  const captured = "captured_date" in settlement ? settlement.captured_date : undefined;
  return (
    <>
      <h2>Settlement</h2>
      {!submitted && !captured && !settlement.settled_date && payout === undefined ? (
        <Empty>Nothing has been captured or paid out.</Empty>
      ) : (
        <Facts
          facts={[
            ["Capture submitted", submitted && <Time at={submitted} />],
            ["Captured", captured && formatDay(captured)],
            ["Settled", settlement.settled_date && formatDay(settlement.settled_date)],
            ["Payout", payout && <PayoutCheck payout={payout} account={account} />],
          ]}
        />
      )}
    </>
  );
}

interface ChildrenProps {
  parent: string;
  /** True if the parent is shown as of an earlier instant. */
  isPast: boolean;
  account: string;
  visit: ViewProps["visit"];
}

function Children({ parent, account, visit, isPast }: ChildrenProps) {
  const session = useSession();
  const children = useLoaded(
    `children ${account} ${parent}`,
    async (signal) => {
      const found = await clientFor(session).listChildTransactions(
        { parentTransactionExternalId: parent, gateway_account_id: account, extended: true },
        { signal },
      );
      return { transactions: found.transactions, hasMore: cursorIn(found._links) !== undefined };
    },
    visit,
  );
  return (
    <>
      <h2>Refunds and disputes{isPast && ", as they are now"}</h2>
      <Show of={children} name="refunds and disputes">
        {({ transactions, hasMore }) =>
          transactions.length === 0 ? (
            <Empty>There are none.</Empty>
          ) : (
            <>
              <Table label="Refunds and disputes" head={childColumns}>
                {transactions.map(({ transaction_id, transaction_type, created_date, state, amount }) => (
                  <tr key={transaction_id}>
                    <td>
                      <Time at={created_date} />
                    </td>
                    <th scope="row">
                      <a href={fragmentOf(["transactions", transaction_id], { account_id: account })}>
                        {formatName(transaction_type)} {transaction_id}
                      </a>
                    </th>
                    <td>
                      <State status={state.status} />
                    </td>
                    <td class="money">{amount !== undefined && formatMoney(amount)}</td>
                  </tr>
                ))}
              </Table>
              {hasMore && <p>There are more than these {transactions.length}.</p>}
            </>
          )
        }
      </Show>
    </>
  );
}

const childColumns = (
  <>
    <th scope="col">Created</th>
    <th scope="col">Transaction</th>
    <th scope="col">State</th>
    <th scope="col" class="money">
      Amount
    </th>
  </>
);
