import { type Column, Empty, Facts, RawJson, Table, Time } from "../elements.tsx";
import { formatDay, formatMoney, formatName } from "../format.ts";
import type { Place } from "../fragment.ts";
import { Show, useKept } from "../load.tsx";
import { Heading } from "../view.tsx";
import { useAccounts } from "./accounts.tsx";
import { cursorIn, type Search, type Transaction, transactionFragment, useClient } from "./client.ts";
import { CsvDownload } from "./csv-download.tsx";
import { referenceOf } from "./payer.ts";
import { PayoutCheck } from "./payout-check.tsx";
import { createdBetween } from "./periods.ts";
import { State } from "./state.tsx";
import { Timeline } from "./timeline.tsx";
import { TransactionFacts } from "./transaction-facts.tsx";

/** `#/transactions/ID`: one transaction, with its account and, for an earlier state, `as_of`. */
export function TransactionView({ path, parameters }: Place) {
  const client = useClient();
  const [, id = ""] = path;
  const as_of = parameters.get("as_of") ?? undefined;
  const accounts = useAccounts(parameters.get("account_id"));
  const transaction = useKept(`transaction ${id} ${parameters}`, (signal) => {
    const account = "account_id" in accounts ? { account_id: accounts.account_id[0] } : accounts;
    return client.getTransaction({ transactionExternalId: id, ...account, as_of }, { signal });
  });
  const { value: found } = transaction;
  return (
    <>
      <Heading title={`Transaction ${id}`}>
        {found ? `${formatName(found.transaction_type)} ${referenceOf(found)}` : `Transaction ${id}`}{" "}
        {found && <State status={found.state.status} />}
      </Heading>
      <Show of={transaction} name="transaction">
        {(found) => <TransactionDetails transaction={found} asOf={as_of} />}
      </Show>
    </>
  );
}

interface TransactionDetailsProps {
  transaction: Transaction;
  /** The instant as of which the transaction is shown; undefined for now. */
  asOf: string | undefined;
}

/** What the ledger knows of a transaction, and of what belongs to it if its account is known. */
function TransactionDetails({ transaction, asOf }: TransactionDetailsProps) {
  const { transaction_id: id, transaction_type, gateway_account_id: account } = transaction;
  return (
    <>
      <div class="above">
        <RawJson value={transaction} />
        {account !== undefined && (
          <CsvDownload search={searchFor(transaction, account)} fileName={`${id}.csv`} />
        )}
      </div>
      <TransactionFacts transaction={transaction} />
      {account !== undefined && (
        <>
          <Settlement transaction={transaction} account={account} />
          {transaction_type === "PAYMENT" && (
            <RefundsAndDisputes parent={id} account={account} isPast={asOf !== undefined} />
          )}
          <Timeline id={id} account={account} asOf={asOf} />
        </>
      )}
    </>
  );
}

/** The search for a transaction: it has the account, the type and the millisecond of its creation. */
const searchFor = ({ transaction_type, created_date }: Transaction, account: string): Search => {
  const created = new Date(created_date);
  const period = createdBetween(created, new Date(created.getTime() + 1));
  return { account_id: [account], transaction_type, ...period };
};

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

/** What belongs to a payment, which can be shown as of an earlier instant. */
function RefundsAndDisputes({
  parent,
  account,
  isPast,
}: {
  parent: string;
  account: string;
  isPast: boolean;
}) {
  const client = useClient();
  const children = useKept(`children ${account} ${parent}`, (signal) =>
    client.listChildTransactions(
      { parentTransactionExternalId: parent, gateway_account_id: account, extended: true },
      { signal },
    ),
  );
  return (
    <>
      <h2>Refunds and disputes{isPast && ", as they are now"}</h2>
      <Show of={children} name="refunds and disputes">
        {({ transactions, _links }) => (
          <>
            <Table
              label="Refunds and disputes"
              columns={childColumns(account)}
              rows={transactions}
              empty="There are none."
            />
            {cursorIn(_links) !== undefined && <p>There are more than these {transactions.length}.</p>}
          </>
        )}
      </Show>
    </>
  );
}

const childColumns = (account: string): Column<Transaction>[] => [
  { name: "Created", cell: ({ created_date }) => <Time at={created_date} /> },
  {
    name: "Transaction",
    isHeader: true,
    cell: ({ transaction_id, transaction_type }) => (
      <a href={transactionFragment(transaction_id, account)}>
        {formatName(transaction_type)} {transaction_id}
      </a>
    ),
  },
  { name: "State", cell: ({ state }) => <State status={state.status} /> },
  { name: "Amount", class: "number", cell: ({ amount }) => amount !== undefined && formatMoney(amount) },
];
