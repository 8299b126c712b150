import { Copied, type Fact, Facts, isKnown, Time } from "../elements.tsx";
import { formatDay, formatMoney, formatName } from "../format.ts";
import type { Transaction } from "./client.ts";
import { agreementLink, payoutLink, transactionLink } from "./links.ts";
import { payerOf } from "./payer.ts";

/** The facts of a transaction in groups. A group without facts is left out. */
export const TransactionFacts = ({ transaction }: { transaction: Transaction }) => (
  <div class="groups">
    {(
      [
        ["Money", moneyOf(transaction)],
        ["Payer", payerFacts(transaction)],
        ["Settlement", settlementOf(transaction)],
        ["Ids", idsOf(transaction)],
        ["Metadata", metadataOf(transaction)],
      ] as const
    ).map(
      ([title, facts]) =>
        facts.some(([, value]) => isKnown(value)) && (
          <section key={title}>
            <h2>{title}</h2>
            <Facts facts={facts} />
          </section>
        ),
    )}
  </div>
);

/** The members that only payments have. */
const paymentOf = (transaction: Transaction) =>
  transaction.transaction_type === "PAYMENT" ? transaction : undefined;

const moneyOf = (transaction: Transaction): Fact[] => {
  const payment = paymentOf(transaction);
  return [
    ["Amount", money(transaction.amount)],
    ["Total with surcharge", money(payment?.total_amount)],
    ["Fee", "fee" in transaction && money(transaction.fee)],
    ["Net", "net_amount" in transaction && money(transaction.net_amount)],
    ["Refunded", money(payment?.refund_summary?.amount_refunded || undefined)],
    ["Refundable", money(payment?.refund_summary?.amount_available)],
    ["Dispute reason", "reason" in transaction && transaction.reason && formatName(transaction.reason)],
    [
      "Evidence due",
      "evidence_due_date" in transaction && transaction.evidence_due_date && (
        <Time at={transaction.evidence_due_date} />
      ),
    ],
    ["Money", transaction.live === false ? "Test money" : undefined],
  ];
};

function payerFacts(transaction: Transaction): Fact[] {
  const { description, email, card_details } = payerOf(transaction);
  const { card_brand, last_digits_card_number: digits, cardholder_name, expiry_date } = card_details ?? {};
  return [
    ["Description", isolated(description)],
    ["Email", isolated(email)],
    ["Card", isolated([card_brand, digits && `•••• ${digits}`].filter(Boolean).join(" "))],
    ["Name on the card", isolated(cardholder_name)],
    ["Card expires", expiry_date],
    ["Refunded by", isolated(refunderOf(transaction))],
  ];
}

function settlementOf(transaction: Transaction): Fact[] {
  const { settlement_summary: settlement, gateway_account_id: account } = transaction;
  const payout = "gateway_payout_id" in transaction ? transaction.gateway_payout_id : undefined;
  const submitted = "capture_submit_time" in settlement ? settlement.capture_submit_time : undefined;
  const captured = "captured_date" in settlement ? settlement.captured_date : undefined;
  return [
    ["Capture submitted", submitted && <Time at={submitted} />],
    ["Captured", captured && formatDay(captured)],
    ["Settled", settlement.settled_date && formatDay(settlement.settled_date)],
    [
      "Payout",
      payout && (
        <a href={payoutLink(payout, account)}>
          <bdi>{payout}</bdi>
        </a>
      ),
    ],
  ];
}

function idsOf(transaction: Transaction): Fact[] {
  const { gateway_account_id: account, gateway_transaction_id: providersId } = transaction;
  const parent = "parent_transaction_id" in transaction ? transaction.parent_transaction_id : undefined;
  const payment = paymentOf(transaction);
  const agreement = payment?.agreement_id;
  return [
    ["Id", <Copied key="id" text={transaction.transaction_id} />],
    [
      "Payment",
      parent && (
        <a href={transactionLink(parent, account)}>
          <bdi>{parent}</bdi>
        </a>
      ),
    ],
    ["Provider", isolated(payment?.payment_provider)],
    ["Provider's id", providersId && <Copied text={providersId} />],
    ["Account", isolated(account)],
    ["Service", isolated(transaction.service_id)],
    [
      "Agreement",
      agreement && (
        <a href={agreementLink(agreement, account)}>
          <bdi>{agreement}</bdi>
        </a>
      ),
    ],
  ];
}

const money = (amount?: number | null) =>
  typeof amount === "number" && <span class="number">{formatMoney(amount)}</span>;

const isolated = (text?: string | null) => text && <bdi>{text}</bdi>;

const refunderOf = (transaction: Transaction) =>
  transaction.transaction_type === "REFUND"
    ? (transaction.refunded_by_user_email ?? transaction.refunded_by)
    : undefined;

const metadataOf = (transaction: Transaction): Fact[] =>
  "metadata" in transaction
    ? Object.entries(transaction.metadata ?? {}).map(([name, value]) => [name, isolated(String(value))])
    : [];
