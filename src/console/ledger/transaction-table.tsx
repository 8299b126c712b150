import { type Column, Table, Text, Time } from "../elements.tsx";
import { formatMoney, formatName } from "../format.ts";
import { withAccount } from "./account-column.tsx";
import type { Transaction } from "./client.ts";
import { transactionLink } from "./links.ts";
import { cardText, payerOf, referenceOf, signedAmount } from "./payer.ts";
import { State } from "./state.tsx";

interface Props {
  label: string;
  transactions: Transaction[];
  /** The text in the place of a table without rows. */
  empty?: string;
  /** True if all have the same payer, who is not shown. */
  isShort?: boolean;
}

/** Transactions, with the account if there are several. */
export function TransactionTable({ label, transactions, empty, isShort = false }: Props) {
  return (
    <Table
      hasLinks
      label={label}
      columns={withAccount(columns, transactions).filter(
        ({ name }) => !(isShort && ["Email", "Card"].includes(name)),
      )}
      rows={transactions}
      keyOf={({ transaction_id, gateway_account_id }) => `${gateway_account_id} ${transaction_id}`}
      empty={empty}
    />
  );
}

const columns: Column<Transaction>[] = [
  { name: "Created", class: "short", cell: ({ created_date }) => <Time at={created_date} isShort /> },
  {
    name: "Reference",
    isHeader: true,
    cell: (transaction) => (
      <>
        <a href={transactionLink(transaction.transaction_id, transaction.gateway_account_id)}>
          <Text>{referenceOf(transaction)}</Text>
        </a>
        <span class="narrow">{formatName(transaction.transaction_type)}</span>
      </>
    ),
  },
  { name: "Type", class: "wide", cell: ({ transaction_type }) => formatName(transaction_type) },
  { name: "Email", class: "wide", cell: (transaction) => <Text>{payerOf(transaction).email}</Text> },
  {
    name: "Card",
    class: "wide",
    cell: (transaction) => <Text>{cardText(payerOf(transaction).card_details)}</Text>,
  },
  { name: "State", class: "short", cell: ({ state }) => <State status={state.status} /> },
  {
    name: "Amount",
    class: "number",
    cell: (transaction) => transaction.amount !== undefined && formatMoney(signedAmount(transaction)),
  },
];
