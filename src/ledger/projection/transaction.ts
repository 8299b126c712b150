import type { Details, EventRow } from "../tables/event.ts";
import type { TransactionRow, TransactionType } from "../tables/transaction.ts";
import { booleanOf, textOf } from "./details.ts";
import { commonColumns, firstOf, type History, historiesOf } from "./history.ts";
import { metadataValuesOf } from "./metadata.ts";
import { stateSetBy } from "./states.ts";

/**
 * The transactions these events amount to. The same set of events gives the same rows, in whatever order it comes. A
 * refund or dispute takes its payment's details from the payment's events, so those must be among them. It takes none
 * from a payment of another account: whoever writes a refund can name any payment as its parent.
 */
export function projectTransactions(events: EventRow[]): TransactionRow[] {
  const histories = historiesOf(events);
  return [...histories].map(([id, history]) => projectTransaction(id, history, histories));
}

function projectTransaction(id: string, history: History, all: Map<string, History>): TransactionRow {
  const { newestFirst, details } = history;
  const common = commonColumns(history);
  const type = newestFirst[0]?.resource_type.toUpperCase() as TransactionType;
  const parentId = firstOf(newestFirst, (event) => event.parent_resource_external_id || undefined);
  const accountId = textOf(details, "gateway_account_id") ?? null;
  const parent = type === "PAYMENT" || parentId === undefined ? undefined : all.get(parentId);
  const isOfAccount = parent !== undefined && textOf(parent.details, "gateway_account_id") === accountId;
  const shown = isOfAccount ? parent.details : details;
  const own = (name: keyof Details) => textOf(details, name) ?? null;
  const ofPayment = (name: keyof Details) => textOf(shown, name) ?? null;
  return {
    external_id: id,
    transaction_type: type,
    parent_external_id: parentId ?? null,
    gateway_account_id: accountId,
    ...common,
    live: common.live ?? booleanOf(details, "live") ?? null,
    state: firstOf(newestFirst, (event) => stateSetBy(event.event_type)) ?? "UNDEFINED",
    first_event_id: newestFirst.map(({ id }) => id).reduce((first, id) => (id < first ? id : first)),
    reference: ofPayment("reference"),
    email: ofPayment("email"),
    cardholder_name: ofPayment("cardholder_name"),
    card_brand: ofPayment("card_brand"),
    first_digits_card_number: ofPayment("first_digits_card_number"),
    last_digits_card_number: ofPayment("last_digits_card_number"),
    gateway_transaction_id: own("gateway_transaction_id"),
    gateway_payout_id: own("gateway_payout_id"),
    agreement_id: own("agreement_id"),
    metadata_values: type === "PAYMENT" ? metadataValuesOf(details) : null,
    details,
    payment_details: type === "PAYMENT" ? null : pick(shown, paymentMembers),
  };
}

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

const pick = (details: Details, names: (keyof Details)[]): Details =>
  Object.fromEntries(
    names.filter((name) => Object.hasOwn(details, name)).map((name) => [name, details[name]]),
  );
