import type { Details, EventRow } from "../tables/event.ts";
import type { TransactionRow, TransactionType } from "../tables/transaction.ts";
import { booleanOf, textOf } from "./details.ts";
import { lifeRank, stateSetBy } from "./states.ts";

/** What the projection reads of an event. */
export type FoldedEvent = Omit<EventRow, "id">;

/**
 * The transactions these events amount to. The same set of events gives the same rows, in whatever order it comes. A
 * refund or dispute takes its payment's details from the payment's events, so those must be among them.
 */
export function projectTransactions(events: FoldedEvent[]): TransactionRow[] {
  const byResource = Map.groupBy(events, (event) => event.resource_external_id);
  const histories = new Map([...byResource].map(([id, own]) => [id, readHistory(own)]));
  return [...histories].map(([id, history]) => projectTransaction(id, history, histories));
}

interface History {
  newestFirst: FoldedEvent[];
  /** Of each member the newest value; members are replaced whole. */
  details: Details;
}

function readHistory(events: FoldedEvent[]): History {
  const newestFirst = events.toSorted(compareNewestFirst);
  const members = newestFirst.toReversed().flatMap(({ event_details }) => Object.entries(event_details));
  return { newestFirst, details: Object.fromEntries(members) };
}

/**
 * Newest first by the event's own time. At the same time the type that comes later in a transaction's life is newer,
 * then the names decide: nothing here depends on when an event arrived.
 */
export function compareNewestFirst(a: FoldedEvent, b: FoldedEvent): number {
  return (
    compare(b.timestamp, a.timestamp) ||
    lifeRank(b.event_type) - lifeRank(a.event_type) ||
    compare(b.event_type, a.event_type) ||
    compare(b.resource_type, a.resource_type) ||
    compare(b.resource_external_id, a.resource_external_id)
  );
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function projectTransaction(
  id: string,
  { newestFirst, details }: History,
  all: Map<string, History>,
): TransactionRow {
  const type = newestFirst[0]?.resource_type.toUpperCase() as TransactionType;
  const parentId = firstOf(newestFirst, (event) => event.parent_resource_external_id || undefined);
  const parent = type === "PAYMENT" || parentId === undefined ? undefined : all.get(parentId);
  const shown = parent?.details ?? details;
  const own = (name: string) => textOf(details, name) ?? null;
  const ofPayment = (name: string) => textOf(shown, name) ?? null;
  return {
    external_id: id,
    transaction_type: type,
    parent_external_id: parentId ?? null,
    gateway_account_id: own("gateway_account_id"),
    service_id: firstOf(newestFirst, (event) => event.service_id || undefined) ?? null,
    live: firstOf(newestFirst, (event) => event.live ?? undefined) ?? booleanOf(details, "live") ?? null,
    state: firstOf(newestFirst, (event) => stateSetBy(event.event_type)) ?? "UNDEFINED",
    created_date: newestFirst.at(-1)?.timestamp ?? "",
    event_count: newestFirst.length,
    reference: ofPayment("reference"),
    email: ofPayment("email"),
    cardholder_name: ofPayment("cardholder_name"),
    card_brand: ofPayment("card_brand"),
    first_digits_card_number: ofPayment("first_digits_card_number"),
    last_digits_card_number: ofPayment("last_digits_card_number"),
    gateway_transaction_id: own("gateway_transaction_id"),
    gateway_payout_id: own("gateway_payout_id"),
    agreement_id: own("agreement_id"),
    details,
    payment_details: type === "PAYMENT" ? null : pick(shown, paymentMembers),
  };
}

/** Of the payment's details, what its refunds and disputes show. */
const paymentMembers = [
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

const pick = (details: Details, names: string[]): Details =>
  Object.fromEntries(
    names.filter((name) => Object.hasOwn(details, name)).map((name) => [name, details[name]]),
  );

function firstOf<Value>(
  newestFirst: FoldedEvent[],
  read: (event: FoldedEvent) => Value | undefined,
): Value | undefined {
  for (const event of newestFirst) {
    const value = read(event);
    if (value !== undefined) return value;
  }
  return undefined;
}
