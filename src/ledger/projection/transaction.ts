import { isDeepStrictEqual } from "node:util";
import type { Details, EventRow } from "../tables/event.ts";
import type { KeptTransaction, TransactionRow, TransactionType } from "../tables/transaction.ts";
import { booleanOf, textOf } from "./details.ts";
import { type Base, type Bases, firstOf, foldCommon } from "./history.ts";
import { metadataValuesOf } from "./metadata.ts";
import { stateSetBy } from "./states.ts";

/**
 * The transactions these events amount to. The same set of events gives the same rows, in whatever order it comes. A
 * refund or dispute takes its payment's details from the payment's events, so those must be among them. It takes none
 * from a payment of another account: whoever writes a refund can name any payment as its parent.
 */
export function projectTransactions(events: EventRow[]): TransactionRow[] {
  const rows = foldTransactionsOnto(events, new Map());
  return [...rows.values()].map((row) => showing(row, rows));
}

/** What a transaction's own events amount to. */
export type OwnRow = Omit<TransactionRow, (typeof shownColumns)[number] | "payment_details">;

/** What the events of each transaction amount to, onto what is kept; see `foldCommon`. */
export function foldTransactionsOnto(events: EventRow[], bases: Bases<KeptTransaction>): Map<string, OwnRow> {
  const byTransaction = Map.groupBy(events, (event) => event.resource_external_id);
  return new Map([...byTransaction].map(([id, own]) => [id, foldTransaction(id, own, bases.get(id))]));
}

function foldTransaction(id: string, events: EventRow[], base?: Base<KeptTransaction>): OwnRow {
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

/** The row, with what it shows of its payment, which has to be among the others, or else of its own. */
export function showing(row: OwnRow, others: ReadonlyMap<string, Shown>): TransactionRow {
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

/** Whether the refunds and disputes of a payment show the same of it, before and after it changed. */
export const showTheSame = (before: Shown | undefined, after: Shown | undefined): boolean =>
  isDeepStrictEqual(before && shownOf(before), after && shownOf(after));

/** What children show of a transaction, and whose it is. */
export type Shown = Pick<KeptTransaction, "gateway_account_id" | "details">;

const shownOf = ({ gateway_account_id, details }: Shown) => ({
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

/** Of the payment's details, what its refunds and disputes show. */
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
