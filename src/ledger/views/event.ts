import type { components } from "../../../generated/ledger.ts";
import { penceOf } from "../projection/details.ts";
import { stateEventTypes, stateSetBy } from "../projection/states.ts";
import type { EventRow } from "../tables/event.ts";
import type { TransactionRow, TransactionType } from "../tables/transaction.ts";
import { viewMilliseconds } from "./date.ts";
import { type StatusVersion, viewState } from "./state.ts";

type Schemas = components["schemas"];

export function viewEvent({ id, ...event }: EventRow): Schemas["Event"] {
  return { event_id: id, ...event };
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
      event_id: event.id,
      amount: amounts.get(event.resource_external_id) ?? null,
      state: view ?? null,
      resource_type: event.resource_type.toUpperCase() as TransactionType,
      event_type: event.event_type,
      timestamp: viewMilliseconds(event.timestamp),
      data: event.event_details,
    };
  });
}
