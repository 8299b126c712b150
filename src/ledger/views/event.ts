import type { components } from "../../../generated/ledger.ts";
import { penceOf } from "../projection/details.ts";
import { compareNewestFirst } from "../projection/history.ts";
import { stateSetBy } from "../projection/states.ts";
import type { EventRow } from "../tables/event.ts";
import type { TransactionRow, TransactionType } from "../tables/transaction.ts";
import { viewMilliseconds } from "./date.ts";
import { type StatusVersion, viewState } from "./state.ts";

type Schemas = components["schemas"];

export function viewEvent({ id, ...event }: EventRow): Schemas["Event"] {
  return { event_id: id, ...event };
}

/**
 * The events of these transactions, oldest first. Without `includeAllEvents`, the first event of each transaction for each
 * state.
 */
export function viewTransactionEvents(
  transactions: Pick<TransactionRow, "external_id" | "details">[],
  events: EventRow[],
  includeAllEvents: boolean,
  version: StatusVersion,
): Schemas["TransactionEvent"][] {
  const amounts = new Map(
    transactions.map(({ external_id, details }) => [external_id, penceOf(details, "amount")]),
  );
  const oldestFirst = events.toSorted((a, b) => compareNewestFirst(b, a));
  const seen = new Set<string>();
  return oldestFirst.flatMap((event) => {
    const state = stateSetBy(event.event_type);
    const view = state && viewState(state, version);
    if (!includeAllEvents) {
      const key = JSON.stringify([event.resource_external_id, event.resource_type, view]);
      if (view === undefined || seen.has(key)) return [];
      seen.add(key);
    }
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
