import type { Sql } from "../../../database/database.ts";
import type { DeferredDelivery } from "./deferred-delivery.ts";
import type { FeedPosition } from "./feed.ts";

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
  /** Milliseconds since everything that was in the feed was sent; null if that is not known. */
  completeMs: number | null;
  /** Why events wait that the target has not rejected; null if none do. */
  problem: string | null;
}

/** Renews the ownership, and records the state. Resolves with false if another one is the owner now. */
export async function renewPublication(
  sql: Sql,
  target: string,
  owner: string,
  { completeMs, problem }: PublisherState,
): Promise<boolean> {
  const rows = await sql.query(
    `update publication set owned_until = now() + $3 * interval '1 second', problem = $5,
       up_to_date_at = greatest(up_to_date_at, now() - $4::double precision * interval '1 millisecond')
     where target = $1 and owner = $2 returning target`,
    [target, owner, ownedSeconds, completeMs, problem],
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

/** Another process owns the publication, since this one did not renew that in time; or the database has lost what was read. */
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

/** An event that waits for another attempt. The reason is null if there was none since the event was a dead letter. */
type WaitingDelivery = Omit<DeferredDelivery, "sql_transaction" | "delayMs"> & { next_attempt_at: string };

/** How far a target is. */
export interface PublicationState {
  target: string;
  /** Why events wait that the target has not rejected; null if none do. */
  problem: string | null;
  /** Milliseconds since everything in the feed was sent for the last time; 0 if it is. */
  behind_ms: bigint;
  /** The number of events that wait for another attempt, up to `deferredMax`, without those behind them. */
  deferred: number;
  /** Those of them that are next, up to `waitingMax`. */
  waiting: WaitingDelivery[];
}

/** Counting stops here, since it must not take long. */
export const deferredMax = 1000;
const waitingMax = 10;

/** The states of these targets, as far as the database knows them. */
export async function publicationStates(sql: Sql, targets: string[]): Promise<PublicationState[]> {
  const [states, waiting] = await Promise.all([
    sql.query<Omit<PublicationState, "waiting">>(
      `select target, problem,
         case when exists (
           select from event_feed
           where (event_feed.sql_transaction, event_feed.event_id) > (publication.sql_transaction, publication.event_id)
             and not only_of_account
         )
           then greatest(0, extract(epoch from now() - up_to_date_at) * 1000)::bigint else 0 end as behind_ms,
         (select count(*)::integer from (
           select from deferred_delivery
           where deferred_delivery.target = publication.target and next_attempt_at < 'infinity' limit $2
         ) as counted) as deferred
       from publication where target = any($1::text[]) order by target`,
      [targets, deferredMax],
    ),
    sql.query<WaitingDelivery & { target: string }>(
      `select next.* from unnest($1::text[]) as wanted (target) cross join lateral (
         select target, event_id, resource_type, resource_external_id, reason, attempts, next_attempt_at
         from deferred_delivery
         where deferred_delivery.target = wanted.target and next_attempt_at < 'infinity'
         order by next_attempt_at limit $2
       ) as next
       order by target, next_attempt_at, event_id`,
      [targets, waitingMax],
    ),
  ]);
  return states.map((state) => ({
    ...state,
    waiting: waiting.flatMap(({ target, ...delivery }) => (target === state.target ? [delivery] : [])),
  }));
}
