import type { components } from "../../../generated/ledger.ts";
import { booleanOf, penceOf, textOf } from "../projection/details.ts";
import { stateEventTypes, stateSetBy } from "../projection/states.ts";
import type { Details, EventRow } from "../tables/event.ts";
import type { FeedRow } from "../tables/feed/feed.ts";
import type { TickerRow } from "../tables/ticker.ts";
import type { TransactionRow, TransactionType } from "../tables/transaction.ts";
import { viewMilliseconds } from "./date.ts";
import { type StatusVersion, viewState } from "./state.ts";

type Schemas = components["schemas"];

export function viewEvent({ id, other_members: _, ...event }: EventRow): Schemas["Event"] {
  return { event_id: id, ...event };
}

export function viewFeedEvent(
  { sql_transaction: _, gateway_account_id, ...event }: FeedRow,
  cursor: string,
): Schemas["FeedEvent"] {
  const { other_members } = event;
  return { cursor, ...viewEvent(event), gateway_account_id, ...(other_members && { other_members }) };
}

const stateOf = ({ event_type }: EventRow, version: StatusVersion) => {
  const state = stateSetBy(event_type);
  return state && viewState(state, version);
};

/** Identifies a state of a transaction; undefined if the event sets none. */
function stateKey(event: EventRow, version: StatusVersion): string | undefined {
  const view = stateOf(event, version);
  return view && JSON.stringify([event.resource_external_id, event.resource_type, view]);
}

/** The first of these events for each state that a caller sees. */
export function firstOfEachState(events: EventRow[], version: StatusVersion): EventRow[] {
  const firsts = new Map<string, EventRow>();
  for (const event of events) {
    const key = stateKey(event, version);
    if (key !== undefined && !firsts.has(key)) firsts.set(key, event);
  }
  return [...firsts.values()];
}

/** The event types that set the same state as this event, as a caller sees it. */
export function eventTypesOfState(event: EventRow, version: StatusVersion): string[] {
  const key = stateKey(event, version);
  return stateEventTypes.filter((event_type) => stateKey({ ...event, event_type }, version) === key);
}

/** The events of these transactions, in their order. `transactions` have the amounts. */
export function viewTransactionEvents(
  transactions: Pick<TransactionRow, "external_id" | "details">[],
  events: EventRow[],
  version: StatusVersion,
): Schemas["TransactionEvent"][] {
  const amounts = new Map(
    transactions.map(({ external_id, details }) => [external_id, penceOf(details, "amount")]),
  );
  return events.map((event) => {
    const view = stateOf(event, version);
    return {
      amount: amounts.get(event.resource_external_id) ?? null,
      state: view ?? null,
      resource_type: event.resource_type.toUpperCase() as TransactionType,
      event_type: event.event_type,
      timestamp: viewMilliseconds(event.timestamp),
      data: event.event_details,
    };
  });
}

/** The views of these events with the numbers of the events. */
export const withEventIds = <View>(views: View[], events: EventRow[]): (View & { event_id: bigint })[] =>
  views.map((view, index) => ({ event_id: (events[index] as EventRow).id, ...view }));

/** An event of the ticker. Members that are not texts count as missing. */
export function viewTickerEvent({ details, ...row }: TickerRow): Schemas["TickerEvent"] {
  const text = (name: keyof Details) => textOf(details, name) ?? null;
  return {
    event_type: row.event_type,
    event_date: row.timestamp,
    resource_external_id: row.resource_external_id,
    resource_type: row.transaction_type.toLowerCase() as Lowercase<TransactionType>,
    transaction_type: row.transaction_type,
    card_brand: row.card_brand,
    amount: penceOf(details, "amount") ?? 0,
    gateway_account_id: row.gateway_account_id,
    service_external_id: row.service_id,
    payment_provider: text("payment_provider"),
    wallet_type: text("wallet"),
    source: text("source"),
    is_moto: booleanOf(details, "moto") ?? false,
    is_recurring: text("authorisation_mode") === "agreement",
  };
}
