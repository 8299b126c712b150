import type { components } from "../../../generated/ledger.ts";
import type { Sql } from "../database/database.ts";

export type ResourceType = components["schemas"]["ResourceType"];
export type Details = Record<string, unknown>;

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

/** Stores those that are not stored yet; answers the ids of the resources of those. */
export async function saveEvents(sql: Sql, events: NewEvent[]): Promise<string[]> {
  const saved = await sql.query<{ resource_external_id: string }>(
    `insert into event (resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type,
                        service_id, live, event_details)
     select resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type,
            service_id, live, event_details
     from jsonb_to_recordset($1::jsonb) as new_event (
       resource_type text, resource_external_id text, parent_resource_external_id text, timestamp timestamptz,
       event_type text, service_id text, live boolean, event_details jsonb)
     on conflict do nothing
     returning resource_external_id`,
    [JSON.stringify(events)],
  );
  return [...new Set(saved.map(({ resource_external_id }) => resource_external_id))];
}

export async function findEvent(sql: Sql, id: bigint): Promise<EventRow | undefined> {
  const [row] = await sql.query<EventRow>("select * from event where id = $1", [id]);
  return row;
}

/** The events that move these transactions, in no promised order. */
export function eventsOf(sql: Sql, externalIds: string[]): Promise<EventRow[]> {
  return sql.query<EventRow>(
    `select * from event
     where resource_external_id = any($1::text[]) and resource_type in ('payment', 'refund', 'dispute')`,
    [externalIds],
  );
}
