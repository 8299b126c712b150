import { isDeepStrictEqual } from "node:util";
import type { Details, EventRow } from "../tables/event.ts";
import type {
  CurrentTransaction,
  TransactionRow,
  TransactionState,
  TransactionType,
} from "../tables/transaction.ts";
import { booleanOf, searchedText, textOf } from "./details.ts";
import { Folds, type Projection } from "./history.ts";
import { metadataValuesOf } from "./metadata.ts";
import { stateSetBy } from "./states.ts";

/**
 * Folds the events of these transactions, and those of their parents. The same set of events gives the same rows in any
 * order. `readEvents` reads the events of resources in any pieces.
 */
export async function projectFrom(
  readEvents: (externalIds: string[]) => AsyncIterable<EventRow[]>,
  externalIds: string[],
): Promise<TransactionRow[]> {
  const folds = new Folds(transactionProjection);
  for await (const events of readEvents(externalIds)) folds.add(events);
  const parents = new Set([...folds.rows().values()].flatMap((row) => row.parent_external_id ?? []));
  const unread = [...parents.difference(new Set(externalIds))];
  for await (const events of readEvents(unread)) folds.add(events);
  const rows = folds.rows();
  return externalIds.flatMap((id) => {
    const row = rows.get(id);
    return row ? withPaymentDetails(row, rows) : [];
  });
}

/** A row from the transaction's own events, without the columns from its payment. */
export type OwnRow = Omit<TransactionRow, (typeof shownColumns)[number] | "payment_details">;

/** How events are folded into transactions, without the columns from their payments. */
export const transactionProjection: Projection<OwnRow, TransactionState, CurrentTransaction> = {
  stateSetBy,
  columnsOf: ({ transaction_type, state, parent_external_id }) => ({
    type: transaction_type.toLowerCase(),
    state,
    parent: parent_external_id ?? undefined,
  }),
  rowOf(external_id, fold) {
    const common = fold.row();
    const { details } = common;
    const transaction_type = (fold.column("type") as string).toUpperCase() as TransactionType;
    const own = (name: keyof Details) => textOf(details, name) ?? null;
    return {
      external_id,
      transaction_type,
      parent_external_id: (fold.column("parent") as string | undefined) ?? null,
      ...common,
      state: fold.state(),
      first_event_id: fold.firstEventId(),
      live: common.live ?? booleanOf(details, "live") ?? null,
      gateway_transaction_id: own("gateway_transaction_id"),
      gateway_payout_id: own("gateway_payout_id"),
      agreement_id: own("agreement_id"),
      metadata_values: transaction_type === "PAYMENT" ? metadataValuesOf(details) : null,
    };
  },
};

/**
 * Adds the columns from the payment, which must be among the others; without a payment they come from the row itself. A refund
 * or dispute shows no details of a payment in another account, since its producer can name any payment as its parent.
 */
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
  const ofPayment = (name: keyof Details) => searchedText(shown, name);
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
