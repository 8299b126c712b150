import type { Sql } from "../../database/database.ts";
import { compareNewestFirst } from "../projection/history.ts";
import { stateEventTypes } from "../projection/states.ts";
import { type ListedEvent, resourcesOf, transactionTypes } from "../tables/event.ts";
import {
  type EventPage,
  type EventPosition,
  type FamilyEvents,
  haveEventsUntil,
  listEvents,
  listShortHistory,
} from "../tables/event-list.ts";
import { amountsOf, familyOf } from "../tables/transaction.ts";
import { eventTypesOfState, firstOfEachState } from "../views/event.ts";
import type { StatusVersion } from "../views/state.ts";

/** All events of a transaction and its children that belong to the account, oldest first, if they are few and small. */
export async function listShortHistoryInOrder(sql: Sql, id: string, account: string) {
  const all = await listShortHistory(sql, id, account);
  all?.events.sort(compareNewestFirst).reverse();
  return all;
}

/**
 * A page of the events of a transaction and its children that belong to the account, and the amounts of these. Undefined if
 * the account has no such transaction. As of an instant, the family then must be given.
 */
export async function listFamilyEvents(
  lane: Sql,
  id: string,
  account: string,
  page: EventPage,
  familyThen: FamilyEvents["family"] | undefined,
): Promise<FamilyEvents | undefined> {
  const ids = familyThen?.map(({ external_id }) => external_id) ?? (await familyOf(lane, id, account));
  if (!ids.includes(id)) return undefined;
  const resources = resourcesOf(transactionTypes, ids);
  const { events, isLast } = await listEvents(lane, resources, stateEventTypes, page);
  const shown = new Set(events.map((event) => event.resource_external_id));
  return { events, isLast, family: familyThen ?? (await amountsOf(lane, [...shown])) };
}

/** The first event of each transaction that sets each state, without the states that the list up to `after` has. */
export async function firstOfStates(
  sql: Sql,
  events: ListedEvent[],
  version: StatusVersion,
  after: EventPosition | undefined,
): Promise<ListedEvent[]> {
  const firsts = firstOfEachState(events, version);
  if (after === undefined || firsts.length === 0) return firsts;
  const states = firsts.map((event) => ({
    resource_external_id: event.resource_external_id,
    resource_type: event.resource_type,
    event_types: eventTypesOfState(event, version),
  }));
  const areKnown = await haveEventsUntil(sql, states, stateEventTypes, after);
  return firsts.filter((_, index) => !areKnown[index]);
}
