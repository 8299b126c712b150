import { isDeepStrictEqual } from "node:util";
import type { Details, EventRow } from "../tables/event.ts";
import type { CurrentTransaction, TransactionRow, TransactionType } from "../tables/transaction.ts";
import { booleanOf, textOf } from "./details.ts";
import { type Base, type Bases, firstOf, foldCommon } from "./history.ts";
import { metadataValuesOf } from "./metadata.ts";
import { stateSetBy } from "./states.ts";

/**
 * Folds events into transactions. The same set of events gives the same rows in any order. The events must contain those of
 * the parents, since a refund or dispute shows details of its payment. It shows none of a payment in another account,
 * since the producer of a refund can name any payment as its parent.
 */
export function projectTransactions(events: EventRow[]): TransactionRow[] {
  const rows = foldTransactions(events, new Map());
  return [...rows.values()].map((row) => withPaymentDetails(row, rows));
}

/** A row from the transaction's own events, without the columns from its payment. */
export type OwnRow = Omit<TransactionRow, (typeof shownColumns)[number] | "payment_details">;

/** Folds events into rows; see `foldCommon`. */
export function foldTransactions(events: EventRow[], bases: Bases<CurrentTransaction>): Map<string, OwnRow> {
  const byTransaction = Map.groupBy(events, (event) => event.resource_external_id);
  return new Map([...byTransaction].map(([id, own]) => [id, foldTransaction(id, own, bases.get(id))]));
}

function foldTransaction(id: string, events: EventRow[], base?: Base<CurrentTransaction>): OwnRow {
  const { newestFirst, ...common } = foldCommon(events, stateSetBy, base);
  const { details } = common;
  const type = newestFirst[0]?.resource_type.toUpperCase() as TransactionType;
  const parent = firstOf(newestFirst, (event) => event.parent_resource_external_id || undefined);
  const numbers = [...events.map((event) => event.id), ...(base ? [base.row.first_event_id] : [])];
  const own = (name: keyof Details) => textOf(details, name) ?? null;
  return {
    external_id: id,
    transaction_type: type,
    parent_external_id: parent ?? base?.row.parent_external_id ?? null,
    ...common,
    live: common.live ?? booleanOf(details, "live") ?? null,
    first_event_id: numbers.reduce((first, number) => (number < first ? number : first)),
    gateway_transaction_id: own("gateway_transaction_id"),
    gateway_payout_id: own("gateway_payout_id"),
    agreement_id: own("agreement_id"),
    metadata_values: type === "PAYMENT" ? metadataValuesOf(details) : null,
  };
}

/** Adds the columns from the payment, which must be among the others; without a payment they come from the row itself. */
export function withPaymentDetails(
  row: OwnRow,
  others: ReadonlyMap<string, ShownByChildren>,
): TransactionRow {
  const isPayment = row.transaction_type === "PAYMENT";
  const account = row.gateway_account_id;
  const parent =
    isPayment || row.parent_external_id === null ? undefined : others.get(row.parent_external_id);
  const isOfAccount = account !== null && parent?.gateway_account_id === account;
  const shown = isOfAccount ? parent.details : row.details;
  const ofPayment = (name: keyof Details) => textOf(shown, name) ?? null;
  return {
    ...row,
    reference: ofPayment("reference"),
    email: ofPayment("email"),
    cardholder_name: ofPayment("cardholder_name"),
    card_brand: ofPayment("card_brand"),
    first_digits_card_number: ofPayment("first_digits_card_number"),
    last_digits_card_number: ofPayment("last_digits_card_number"),
    payment_details: isPayment ? null : pick(shown, paymentMembers),
  };
}

/** True if refunds and disputes show the same details of a payment before and after a change. */
export const showTheSame = (
  before: ShownByChildren | undefined,
  after: ShownByChildren | undefined,
): boolean => isDeepStrictEqual(before && shownOf(before), after && shownOf(after));

/** The account of a transaction and the details that its children show. */
export type ShownByChildren = Pick<CurrentTransaction, "gateway_account_id" | "details">;

const shownOf = ({ gateway_account_id, details }: ShownByChildren) => ({
  gateway_account_id,
  ...pick(details, [...shownColumns, ...paymentMembers]),
});

const shownColumns = [
  "reference",
  "email",
  "cardholder_name",
  "card_brand",
  "first_digits_card_number",
  "last_digits_card_number",
] as const satisfies (keyof Details & keyof TransactionRow)[];

/** The details of a payment that its refunds and disputes show. */
const paymentMembers: (keyof Details)[] = [
  "description",
  "reference",
  "email",
  "cardholder_name",
  "card_brand_label",
  "first_digits_card_number",
  "last_digits_card_number",
  "expiry_date",
  "card_type",
  "wallet",
];

const pick = (details: Details, names: readonly (keyof Details)[]): Details =>
  Object.fromEntries(
    names.filter((name) => Object.hasOwn(details, name)).map((name) => [name, details[name]]),
  );
