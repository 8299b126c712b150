import type { Database, Sql } from "../../../database/database.ts";
import { removeDeadLetters } from "../dead-letter.ts";
import { eventSize, type Resource, resourceColumnsOf } from "../event.ts";
import { eventInFeedColumns, type FeedPosition, type FeedRow } from "./feed.ts";

/** The place of an event in the feed, and its resource. */
export interface FeedEvent extends Resource, Pick<FeedPosition, "sql_transaction" | "event_id"> {}

/** An event that waits for another attempt, or behind such an event of its resource. */
export interface DeferredDelivery extends FeedEvent {
  /** The number of attempts that have failed. */
  attempts: number;
  /** Milliseconds until the next attempt; null if the event waits behind another one. */
  delayMs: number | null;
  reason: string | null;
}

/** The columns of events, for `unnest`. */
const columnsOf = (events: FeedEvent[]) => [
  events.map((one) => one.sql_transaction),
  events.map((one) => one.event_id),
  ...resourceColumnsOf(events),
];

/** Adds deferred deliveries, or replaces them. */
export async function deferDeliveries(sql: Sql, target: string, deliveries: DeferredDelivery[]) {
  if (deliveries.length === 0) return;
  await sql.query(
    `insert into deferred_delivery (
       target, sql_transaction, event_id, resource_type, resource_external_id, attempts, next_attempt_at, reason
     )
     select $1, sql_transaction, event_id, resource_type, resource_external_id, attempts,
       coalesce(now() + delay_ms * interval '1 millisecond', 'infinity'), reason
     from unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::integer[], $7::bigint[], $8::text[])
       as delivery (sql_transaction, event_id, resource_type, resource_external_id, attempts, delay_ms, reason)
     on conflict (target, resource_external_id, resource_type, sql_transaction, event_id) do update set
       attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at, reason = excluded.reason`,
    [
      target,
      ...columnsOf(deliveries),
      deliveries.map((one) => one.attempts),
      deliveries.map((one) => one.delayMs),
      deliveries.map((one) => one.reason),
    ],
  );
}

export async function removeDeferred(sql: Sql, target: string, events: FeedEvent[]): Promise<void> {
  if (events.length === 0) return;
  await sql.query(
    `delete from deferred_delivery using unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[])
       as ended (sql_transaction, event_id, resource_type, resource_external_id)
     where deferred_delivery.target = $1
       and deferred_delivery.resource_external_id = ended.resource_external_id
       and deferred_delivery.resource_type = ended.resource_type
       and deferred_delivery.sql_transaction = ended.sql_transaction
       and deferred_delivery.event_id = ended.event_id`,
    [target, ...columnsOf(events)],
  );
}

/** The first deferred event of a resource of the target in `$1`: one look-up, whatever the statistics of the table are. */
const firstOf = (resource: string, columns: string) => `
  select ${columns} from deferred_delivery as any_of_resource
  where target = $1 and any_of_resource.resource_external_id = ${resource}.resource_external_id
    and any_of_resource.resource_type = ${resource}.resource_type
  order by sql_transaction, event_id limit 1`;

/** Makes the first deferred event of each of these resources due, if it has waited behind another one. */
export async function releaseDeferred(sql: Sql, target: string, resources: Resource[]): Promise<void> {
  if (resources.length === 0) return;
  // The index of times would find all that wait, so the row is found by its address.
  await sql.query(
    `update deferred_delivery as one set next_attempt_at = now()
     from unnest($2::text[], $3::text[]) as ended (resource_type, resource_external_id)
     cross join lateral (${firstOf("ended", "ctid as address, next_attempt_at")}) as first
     where one.ctid = address and first.next_attempt_at = 'infinity'`,
    [target, ...resourceColumnsOf(resources)],
  );
}

/**
 * Makes the first deferred event of each resource due if nothing is before it, and lets all others wait behind it: the
 * previous release gives those a time, too, and none to the next one when it removes the first.
 */
export async function arrangeDeferred(sql: Sql, target: string): Promise<void> {
  await sql.query(
    `update deferred_delivery as one set next_attempt_at = case when is_first then now() else 'infinity' end
     from (
       select *, row_number() over (
         partition by resource_external_id, resource_type order by sql_transaction, event_id
       ) = 1 as is_first
       from deferred_delivery where target = $1
     ) as numbered
     where one.target = $1 and one.resource_external_id = numbered.resource_external_id
       and one.resource_type = numbered.resource_type and one.sql_transaction = numbered.sql_transaction
       and one.event_id = numbered.event_id and is_first = (numbered.next_attempt_at = 'infinity')`,
    [target],
  );
}

/**
 * Events that are due for another attempt, those of a resource in order: the first deferred one of each, with those behind it.
 * None is of the resources in `except`. The limits are the maximum number of resources, of events of a resource, and of bytes,
 * which all events but one have together. Behind an event that has failed, none of its resource is read.
 */
export function dueDeliveries(
  sql: Sql,
  target: string,
  except: Resource[],
  { resourcesMax, eventsMax, bytesMax }: Record<"resourcesMax" | "eventsMax" | "bytesMax", number>,
): Promise<(FeedRow & Pick<DeferredDelivery, "attempts">)[]> {
  return sql.query(
    `with first as materialized (
       select * from deferred_delivery as one
       where target = $1 and next_attempt_at <= now()
         and (resource_type, resource_external_id) not in (select * from unnest($2::text[], $3::text[]))
         and event_id = (${firstOf("one", "event_id")})
       order by next_attempt_at limit $4
     ),
     due as materialized (
       select deferred.*, sum(${eventSize}) over in_order - ${eventSize} as bytes_before,
         row_number() over in_order as number
       from first
       cross join lateral (
         select * from deferred_delivery as behind
         where target = $1 and behind.resource_external_id = first.resource_external_id
           and behind.resource_type = first.resource_type
         order by sql_transaction, event_id limit case when first.attempts = 0 then $5 else 1 end
       ) as deferred
       cross join lateral (select * from event where id = deferred.event_id limit 1) as event
       window in_order as (order by first.next_attempt_at, first.event_id, deferred.sql_transaction, deferred.event_id)
     )
     select due.sql_transaction, attempts, gateway_account_id, ${eventInFeedColumns}
     from due
     cross join lateral (select * from event where id = due.event_id limit 1) as event
     cross join lateral (
       select gateway_account_id from event_feed where event_id = due.event_id and not only_of_account limit 1
     ) as entry
     where bytes_before < $6
     order by number`,
    [target, ...resourceColumnsOf(except), resourcesMax, eventsMax, bytesMax],
    "custom",
  );
}

/** Those of these resources that have deferred deliveries. */
export async function resourcesWithDeferred(sql: Sql, target: string, resources: Resource[]) {
  if (resources.length === 0) return [];
  return sql.query<Resource>(
    `select wanted.* from (
       select distinct * from unnest($2::text[], $3::text[]) as named (resource_type, resource_external_id)
     ) as wanted
     cross join lateral (${firstOf("wanted", "")}) as first`,
    [target, ...resourceColumnsOf(resources)],
  );
}

/** Lets the publisher of each send the events of these dead letters again, behind those that wait for an attempt. */
export async function republishDeadLetters(database: Database, ids: bigint[]): Promise<void> {
  await database.transaction(async (sql) => {
    await sql.query(
      `insert into deferred_delivery (
         target, sql_transaction, event_id, resource_type, resource_external_id, attempts, next_attempt_at
       )
       select target, sql_transaction, event.id, resource_type, resource_external_id, 0, now()
       from dead_letter
       join event on event.id = dead_letter.event_id
       join event_feed on event_feed.event_id = event.id and not only_of_account
       where dead_letter.id = any($1::bigint[])
       on conflict do nothing`,
      [ids],
    );
    await removeDeadLetters(sql, ids);
  });
}
