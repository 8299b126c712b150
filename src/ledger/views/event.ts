import type { components } from "../../../generated/ledger.ts";
import { type Writer, withJsonMembers } from "../../values/json-writer.ts";
import { booleanOf, penceOf, textOf } from "../projection/details.ts";
import { stateEventTypes, stateSetBy } from "../projection/states.ts";
import type { Details, ListedEvent, WholeEvent } from "../tables/event.ts";
import type { FeedRow } from "../tables/feed/feed.ts";
import type { TickerRow } from "../tables/ticker.ts";
import type { TransactionRow, TransactionType } from "../tables/transaction.ts";
import { viewMilliseconds } from "./date.ts";
import { type StatusVersion, viewState } from "./state.ts";

type Schemas = components["schemas"];

type Detailed = Pick<Schemas["Event"], "event_details">;

export const wholeEventWriter = withJsonMembers<WholeEvent, Omit<Schemas["Event"], keyof Detailed>, Detailed>(
  ({ id, event_details: _, ...event }) => ({ event_id: id, ...event }),
  { event_details: (event) => event.event_details },
);

/** An event of the feed and the cursor after it. */
export interface FeedEvent {
  cursor: string;
  event: FeedRow;
}

type LongMembers = Pick<Schemas["FeedEvent"], "event_details" | "other_members">;

export const feedEventWriter = withJsonMembers<
  FeedEvent,
  Omit<Schemas["FeedEvent"], keyof LongMembers>,
  LongMembers
>(
  ({
    cursor,
    event: {
      id,
      sql_transaction: _,
      event_details: _details,
      other_members: _others,
      accepted_at: _accepted,
      ...event
    },
  }) => ({
    cursor,
    event_id: id,
    ...event,
  }),
  {
    event_details: ({ event }) => event.event_details,
    other_members: ({ event }) => event.other_members,
  },
);

const stateOf = ({ event_type }: Pick<ListedEvent, "event_type">, version: StatusVersion) => {
  const state = stateSetBy(event_type);
  return state && viewState(state, version);
};

/** Identifies a state of a transaction; undefined if the event sets none. */
function stateKey(event: ListedEvent, version: StatusVersion): string | undefined {
  const view = stateOf(event, version);
  return view && JSON.stringify([event.resource_external_id, event.resource_type, view]);
}

/** The first of these events for each state that a caller sees. */
export function firstOfEachState(events: ListedEvent[], version: StatusVersion): ListedEvent[] {
  const firsts = new Map<string, ListedEvent>();
  for (const event of events) {
    const key = stateKey(event, version);
    if (key !== undefined && !firsts.has(key)) firsts.set(key, event);
  }
  return [...firsts.values()];
}

/** The event types that set the same state as this event, as a caller sees it. */
export function eventTypesOfState(event: ListedEvent, version: StatusVersion): string[] {
  const key = stateKey(event, version);
  return stateEventTypes.filter((event_type) => stateKey({ ...event, event_type }, version) === key);
}

/** Writes what a view shows of an event, and its details, which are JSON. The number is shown if a caller has requested it. */
export const eventWriter = <View extends object>(isExtended: boolean, view: (event: ListedEvent) => View) =>
  withJsonMembers<ListedEvent, View & { event_id?: bigint }, { data: Schemas["EventDetails"] }>(
    (event) => (isExtended ? { event_id: event.id, ...view(event) } : view(event)),
    { data: (event) => event.event_details },
  );

/** Writes the events of these transactions. `transactions` have the amounts. */
export function transactionEventWriter(
  transactions: Pick<TransactionRow, "external_id" | "details">[],
  { version, isExtended }: { version: StatusVersion; isExtended: boolean },
): Writer<ListedEvent, Schemas["TransactionEvent"]> {
  const amounts = new Map(
    transactions.map(({ external_id, details }) => [external_id, penceOf(details, "amount")]),
  );
  return eventWriter(isExtended, (event) => ({
    amount: amounts.get(event.resource_external_id) ?? null,
    state: stateOf(event, version) ?? null,
    resource_type: event.resource_type.toUpperCase() as TransactionType,
    event_type: event.event_type,
    timestamp: viewMilliseconds(event.timestamp),
  }));
}

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
