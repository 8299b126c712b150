import type { Database, Sql } from "../../database/database.ts";
import { removeDeadLetters } from "./dead-letter.ts";
import { eventColumns, type Resource, type ResourceType } from "./event.ts";
import type { FeedPosition, FeedRow } from "./feed.ts";

/** How long a publisher owns a publication after it has claimed it or renewed that, in seconds. */
export const ownedSeconds = 10;

/**
 * Makes `owner` the owner of a publication, unless another one than `previous` owns it. A publication that does not exist
 * begins at `start`. Resolves with its position; undefined if another one owns it.
 */
export async function claimPublication(
  sql: Sql,
  target: string,
  { owner, previous }: { owner: string; previous: string },
  start: FeedPosition,
): Promise<FeedPosition | undefined> {
  const [row] = await sql.query<FeedPosition>(
    `insert into publication as own (target, sql_transaction, event_id, timestamp, owner, owned_until)
     values ($1, $3, $4, $5, $2, now() + $6 * interval '1 second')
     on conflict (target) do update set owner = excluded.owner, owned_until = excluded.owned_until
     where own.owner = $7 or own.owned_until < now()
     returning sql_transaction, event_id, timestamp`,
    [target, owner, start.sql_transaction, start.event_id, start.timestamp, ownedSeconds, previous],
  );
  return row;
}

/** The state of a publication, which its owner knows. */
export interface PublisherState {
  /** True if everything in the feed was sent. */
  isUpToDate: boolean;
  /** Why the target takes nothing; null if it does. */
  problem: string | null;
}

/** Renews the ownership, and records the state. Resolves with false if another one is the owner now. */
export async function renewPublication(
  sql: Sql,
  target: string,
  owner: string,
  { isUpToDate, problem }: PublisherState,
): Promise<boolean> {
  const rows = await sql.query(
    `update publication set owned_until = now() + $3 * interval '1 second', problem = $5,
       up_to_date_at = case when $4 then now() else up_to_date_at end
     where target = $1 and owner = $2 returning target`,
    [target, owner, ownedSeconds, isUpToDate, problem],
  );
  return rows.length > 0;
}

/** Lets another process own the publication at once. */
export async function releasePublication(sql: Sql, target: string, owner: string): Promise<void> {
  await sql.query("update publication set owned_until = '-infinity' where target = $1 and owner = $2", [
    target,
    owner,
  ]);
}

/** Another process owns the publication, since this one did not renew that in time. */
export class PublicationLost extends Error {}

/** Moves the position, or confirms it. Rejects with `PublicationLost`. */
export async function movePublication(
  sql: Sql,
  target: string,
  owner: string,
  { sql_transaction, event_id, timestamp }: FeedPosition,
): Promise<void> {
  const rows = await sql.query(
    `update publication set sql_transaction = $3, event_id = $4, timestamp = $5
     where target = $1 and owner = $2 returning target`,
    [target, owner, sql_transaction, event_id, timestamp],
  );
  if (rows.length === 0) throw new PublicationLost(`another process publishes to ${target}`);
}

/** An event that waits for another attempt. */
export interface DeferredDelivery {
  sql_transaction: bigint;
  event_id: bigint;
  resource_type: ResourceType;
  resource_external_id: string;
  /** The number of attempts that have failed. 0 if the event waits behind another one of its resource. */
  attempts: number;
  /** Milliseconds until the next attempt. */
  delayMs: number;
  reason: string | null;
}

/** Adds deferred deliveries, or replaces them. */
export async function deferDeliveries(
  sql: Sql,
  target: string,
  deliveries: DeferredDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return;
  await sql.query(
    `insert into deferred_delivery (
       target, sql_transaction, event_id, resource_type, resource_external_id, attempts, next_attempt_at, reason
     )
     select $1, sql_transaction, event_id, resource_type, resource_external_id, attempts,
       now() + delay_ms * interval '1 millisecond', reason
     from unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::integer[], $7::bigint[], $8::text[])
       as delivery (sql_transaction, event_id, resource_type, resource_external_id, attempts, delay_ms, reason)
     on conflict (target, resource_external_id, resource_type, sql_transaction, event_id) do update set
       attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at, reason = excluded.reason`,
    [
      target,
      deliveries.map((one) => one.sql_transaction),
      deliveries.map((one) => one.event_id),
      deliveries.map((one) => one.resource_type),
      deliveries.map((one) => one.resource_external_id),
      deliveries.map((one) => one.attempts),
      deliveries.map((one) => one.delayMs),
      deliveries.map((one) => one.reason),
    ],
  );
}

export async function removeDeferred(sql: Sql, target: string, eventIds: bigint[]): Promise<void> {
  if (eventIds.length === 0) return;
  await sql.query("delete from deferred_delivery where target = $1 and event_id = any($2::bigint[])", [
    target,
    eventIds,
  ]);
}

/** The events that are due for another attempt: the first deferred one of each resource. */
export function dueDeliveries(sql: Sql, target: string, max: number): Promise<DueDelivery[]> {
  return sql.query(
    `select deferred.sql_transaction, attempts, gateway_account_id, ${eventColumns}
     from (
       select * from deferred_delivery as one
       where target = $1 and next_attempt_at <= now() and not exists (
         select from deferred_delivery as earlier
         where earlier.target = one.target and earlier.resource_external_id = one.resource_external_id
           and earlier.resource_type = one.resource_type
           and (earlier.sql_transaction, earlier.event_id) < (one.sql_transaction, one.event_id)
       )
       order by next_attempt_at limit $2
     ) as deferred
     join event on event.id = deferred.event_id
     join event_feed on event_feed.event_id = event.id and not only_of_account`,
    [target, max],
    "custom",
  );
}

export interface DueDelivery extends FeedRow {
  /** The number of attempts that have failed. */
  attempts: number;
}

/** Those of these resources that have deferred deliveries. */
export async function resourcesWithDeferred(
  sql: Sql,
  target: string,
  resources: Resource[],
): Promise<Resource[]> {
  if (resources.length === 0) return [];
  return sql.query(
    `select distinct resource_type, resource_external_id
     from unnest($2::text[], $3::text[]) as wanted (resource_type, resource_external_id)
     join deferred_delivery using (resource_type, resource_external_id) where target = $1`,
    [target, resources.map((one) => one.resource_type), resources.map((one) => one.resource_external_id)],
  );
}

/** With more deferred deliveries a target gets no other events: it seems to reject everything. Counting stops here. */
export const deferredMax = 1000;

/** The number of deferred deliveries, up to `deferredMax`. */
export async function countDeferred(sql: Sql, target: string): Promise<number> {
  const [row] = await sql.query<{ count: bigint }>(
    "select count(*) from (select from deferred_delivery where target = $1 limit $2) as counted",
    [target, deferredMax],
  );
  return Number(row?.count);
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

/** How far a target is. */
export interface PublicationState {
  target: string;
  /** Why the target takes nothing; null if it does. */
  problem: string | null;
  /** Milliseconds since everything in the feed was sent for the last time; 0 if it is. */
  behind_ms: bigint;
  /** The number of deferred deliveries, up to `deferredMax`. */
  deferred: number;
}

/** The states of these targets, as far as the database knows them. */
export function publicationStates(sql: Sql, targets: string[]): Promise<PublicationState[]> {
  return sql.query(
    `select target, problem,
       case when exists (
         select from event_feed
         where (event_feed.sql_transaction, event_feed.event_id) > (publication.sql_transaction, publication.event_id)
           and not only_of_account
       )
         then greatest(0, extract(epoch from now() - up_to_date_at) * 1000)::bigint else 0 end as behind_ms,
       (select count(*)::integer from (
         select from deferred_delivery where deferred_delivery.target = publication.target limit $2
       ) as counted) as deferred
     from publication where target = any($1::text[]) order by target`,
    [targets, deferredMax],
  );
}
