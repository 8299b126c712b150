import { Facts, Time } from "../elements.tsx";
import { formatMoney, formatName } from "../format.ts";
import { fragmentOf } from "../fragment.ts";
import { type Transaction, transactionFragment } from "./client.ts";
import { cardOf, payerOf } from "./payer.ts";

/** The facts of every type of transaction, and those of its own type. */
export function TransactionFacts({ transaction }: { transaction: Transaction }) {
  const payer = payerOf(transaction);
  const { cardholder_name, expiry_date } = payer.card_details ?? {};
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
        ["Card", cardOf(transaction)],
        ["Name on the card", cardholder_name],
        ["Card expires", expiry_date],
        ["Payment", parent && <a href={transactionFragment(parent, account_id)}>{parent}</a>],
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

const money = (pence?: number | null) =>
  typeof pence === "number" && <span class="number">{formatMoney(pence)}</span>;

const refunderOf = (transaction: Transaction) =>
  transaction.transaction_type === "REFUND"
    ? (transaction.refunded_by_user_email ?? transaction.refunded_by)
    : undefined;

const metadataOf = (transaction: Transaction): [string, string][] =>
  "metadata" in transaction
    ? Object.entries(transaction.metadata ?? {}).map(([name, value]) => [`Metadata: ${name}`, String(value)])
    : [];
