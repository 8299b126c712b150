import type { components } from "../../../generated/ledger.ts";
import type { Sql } from "../database/database.ts";

export type ResourceType = components["schemas"]["ResourceType"];
type Declared = components["schemas"]["EventDetails"];

/** The details of an event: any members. Those of the contract have names here. */
export type Details = { [Name in keyof Declared as string extends Name ? never : Name]?: unknown };

export interface NewEvent {
  resource_type: ResourceType;
  resource_external_id: string;
  parent_resource_external_id: string | null;
  /** UTC, six fraction digits. */
  timestamp: string;
  event_type: string;
  service_id: string | null;
  live: boolean | null;
  event_details: Details;
}

export interface EventRow extends NewEvent {
  id: bigint;
}

/** Stores events that are new, and returns their rows. */
export const saveEvents = (sql: Sql, events: NewEvent[]): Promise<EventRow[]> =>
  sql.query(
    `insert into event (resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type,
                        service_id, live, event_details)
     select resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type,
            service_id, live, event_details
     from jsonb_to_recordset($1::jsonb) as new_event (
       resource_type text, resource_external_id text, parent_resource_external_id text, timestamp timestamptz,
       event_type text, service_id text, live boolean, event_details jsonb)
     on conflict do nothing
     returning *`,
    [JSON.stringify(events)],
  );

/** The resource types whose events belong to transactions, and those of payouts. */
export const transactionTypes: ResourceType[] = ["payment", "refund", "dispute"];
export const payoutTypes: ResourceType[] = ["payout"];

export async function findEvent(sql: Sql, id: bigint): Promise<EventRow | undefined> {
  const [row] = await sql.query<EventRow>("select * from event where id = $1", [id]);
  return row;
}

/** The events of these transactions dated up to `asOf`, in any order. */
export const eventsOf = (sql: Sql, externalIds: string[], asOf?: string): Promise<EventRow[]> =>
  selectEvents(sql, transactionTypes, externalIds, asOf);

/** The same, with the events of the parents that these events name. */
export async function eventsWithParentsOf(
  sql: Sql,
  externalIds: string[],
  asOf?: string,
): Promise<EventRow[]> {
  const own = await eventsOf(sql, externalIds, asOf);
  const named = new Set(own.flatMap((event) => event.parent_resource_external_id ?? []));
  const parents = named.difference(new Set(externalIds));
  return parents.size === 0 ? own : [...own, ...(await eventsOf(sql, [...parents], asOf))];
}

/** The events of these payouts dated up to `asOf`, in any order. */
export const payoutEventsOf = (sql: Sql, payoutIds: string[], asOf?: string): Promise<EventRow[]> =>
  selectEvents(sql, payoutTypes, payoutIds, asOf);

function selectEvents(sql: Sql, types: ResourceType[], externalIds: string[], asOf = "infinity") {
  return sql.query<EventRow>(
    `select * from event
     where resource_external_id = any($1::text[]) and resource_type = any($2::text[]) and timestamp <= $3`,
    [externalIds, types, asOf],
  );
}

/** A resource and the first instant of its events to read: UTC, or `-infinity` for all events. */
export interface Since {
  id: string;
  since: string;
}

/** The events of these transactions from an instant on, in any order. */
export const eventsSince = (sql: Sql, wanted: Since[]): Promise<EventRow[]> =>
  selectEventsSince(sql, transactionTypes, wanted);

/** The same for payouts. */
export const payoutEventsSince = (sql: Sql, wanted: Since[]): Promise<EventRow[]> =>
  selectEventsSince(sql, payoutTypes, wanted);

/**
 * One index scan for each resource. The planner expects a range with two ends to be small, so it uses the index from the
 * first instant on, even if most events of the table belong to one resource.
 */
const selectEventsSince = (sql: Sql, types: ResourceType[], wanted: Since[]): Promise<EventRow[]> =>
  sql.query(
    `select event.* from unnest($1::text[], $2::timestamptz[]) as wanted (id, since)
     cross join lateral (
       select * from event
       where resource_external_id = wanted.id and resource_type = any($3::text[])
         and timestamp between since and 'infinity'
       offset 0
     ) as event`,
    [wanted.map(({ id }) => id), wanted.map(({ since }) => since), types],
  );

/** Ids of the transactions with an event dated up to `asOf` that names this parent. */
export async function childIdsAsOf(sql: Sql, parentExternalId: string, asOf: string): Promise<string[]> {
  const rows = await sql.query<{ resource_external_id: string }>(
    `select distinct resource_external_id from event
     where parent_resource_external_id = $1 and timestamp <= $2`,
    [parentExternalId, asOf],
  );
  return rows.map(({ resource_external_id }) => resource_external_id);
}
