import type { Transaction } from "./client.ts";

/** The transaction with the data of the payer: a payment itself, or the payment of a refund or a dispute. */
export const payerOf = (transaction: Transaction) =>
  transaction.transaction_type === "PAYMENT" ? transaction : transaction.payment_details;

export const referenceOf = (transaction: Transaction): string =>
  payerOf(transaction).reference || transaction.transaction_id;

interface Card {
  card_brand?: string;
  last_digits_card_number?: string;
}

/** The brand and the last digits of a card, as far as they are known. */
export const cardText = ({ card_brand, last_digits_card_number: digits }: Card = {}): string =>
  [card_brand, digits && `•${digits}`].filter(Boolean).join(" ");

/** The amount in minor units, which is negative if it goes to the payer, as that of a refund does. */
export const signedAmount = ({ transaction_type, amount = 0 }: Transaction): number =>
  transaction_type === "REFUND" ? -amount : amount;
