import type { Sql } from "../../database/database.ts";
import { queryCount, queryIds } from "./query.ts";
import { lockLog, removeSalts } from "./transparency.ts";

/** What responses show in place of an erased value. */
export const redacted = "<REDACTED>";

/** The redaction of each resource in `$1` that has one. */
const redactions = `
  select resource_external_id, bool_and(keeps_metadata) as keeps_metadata
  from redaction where resource_external_id = any($1::text[]) group by 1`;

/**
 * Erases the personal data from the stored events of resources, and from those that arrive later. Their projections must be
 * rebuilt in the same SQL transaction. The metadata of a resource that was redacted without it can be redacted later.
 */
export async function redactEvents(sql: Sql, externalIds: string[], keepsMetadata: boolean): Promise<void> {
  await lockLog(sql);
  await sql.query(
    `insert into redaction (resource_external_id, keeps_metadata)
     select id, $2 from unnest($1::text[]) as resource (id) order by id on conflict do nothing`,
    [externalIds, keepsMetadata],
  );
  await sql.query(
    `update event set event_details = details, other_members = others,
       size = size + octet_length(details::text) - octet_length(event_details::text)
     from (
       select id, redacted_members(event_details, keeps_metadata) as details,
         redacted_members(other_members, keeps_metadata) as others
       from event join (${redactions}) as redaction using (resource_external_id)
     ) as own
     where own.id = event.id and (event_details, other_members) is distinct from (details, others)`,
    [externalIds],
  );
  await removeSalts(sql, externalIds);
}

/** Erases the personal data from what payouts were before. */
export const redactPayoutVersions = (sql: Sql, externalIds: string[]): Promise<unknown> =>
  sql.query(
    `update payout_version set details = redacted_members(details, false), folded = null
     where gateway_payout_id = any($1::text[])`,
    [externalIds],
  );

/** A resource and another one that one of its events names: the payment of a refund, the agreement of an instrument. */
export interface Relation {
  id: string;
  parent: string;
}

/**
 * Erases the personal data of resources from their later events if their parents are redacted. Returns the ids of those that were
 * not redacted before.
 */
export const inheritRedactions = (sql: Sql, relations: Relation[]): Promise<string[]> =>
  queryIds(
    sql,
    `insert into redaction (resource_external_id, keeps_metadata)
     select distinct id, false from unnest($1::text[], $2::text[]) as relation (id, parent)
     where exists (select from redaction where resource_external_id = parent)
       and not exists (select from redaction where resource_external_id = relation.id)
     on conflict do nothing returning resource_external_id as id`,
    [relations.map(({ id }) => id), relations.map(({ parent }) => parent)],
  );

export async function hasRedactions(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ found: boolean }>("select exists (select from redaction) as found");
  return row?.found === true;
}

export interface Redaction {
  keeps_metadata: boolean;
}

/** The redactions of resources by their ids. */
export async function redactionsOf(sql: Sql, ids: string[]): Promise<Map<string, Redaction>> {
  const rows = await sql.query<Redaction & { resource_external_id: string }>(redactions, [ids]);
  return new Map(rows.map((row) => [row.resource_external_id, row]));
}

/** The family of a resource: itself, the refunds and disputes of a payment, and the instruments of an agreement. */
const family = (id: string) => `
  select ${id}
  union select external_id from transaction where parent_external_id = ${id}
  union select resource_external_id from event where parent_resource_external_id = ${id}
  union select resource_external_id from event
    where resource_type = 'payment_instrument' and left(event_details ->> 'agreement_external_id', 255) = ${id}`;

/** The families of resources, without those that are redacted, with their metadata if that is not kept. */
export const notRedacted = (sql: Sql, externalIds: string[], keepsMetadata: boolean): Promise<string[]> =>
  queryIds(
    sql,
    `select distinct member.id from unnest($1::text[]) as resource (id)
     cross join lateral (${family("resource.id")}) as member (id)
     where not exists (
       select from redaction where resource_external_id = member.id and ($2 or not keeps_metadata)
     )`,
    [externalIds, keepsMetadata],
  );

/**
 * Those of these ids whose families have no event since an instant. An agreement also waits for its payments, and a refund,
 * dispute or instrument for the resource to which it belongs.
 */
export const unusedSince = (sql: Sql, externalIds: string[], instant: string): Promise<string[]> =>
  queryIds(
    sql,
    `select id from unnest($1::text[]) as resource (id)
     where not exists (
       select from (
         ${family("resource.id")}
         union select external_id from transaction where agreement_id = resource.id
         union select parent_external_id from transaction where external_id = resource.id
         union select agreement_external_id from payment_instrument where external_id = resource.id
       ) as member (id)
       join event on resource_external_id = member.id where timestamp >= $2
     )`,
    [externalIds, instant],
  );

/** Those of these ids of which no event is stored. */
export const withoutEvents = (sql: Sql, externalIds: string[]): Promise<string[]> =>
  queryIds(
    sql,
    `select id from unnest($1::text[]) as resource (id)
     where not exists (select from event where resource_external_id = resource.id)`,
    [externalIds],
  );

/** The instant that lies this interval, such as `7 years`, before now. */
export async function instantBefore(sql: Sql, interval: string): Promise<string> {
  const rows = await sql.query<{ instant: string }>("select now() - $1::interval as instant", [interval]);
  return rows[0]?.instant as string;
}

/** The number of transactions of this database that began before an instant. They can still read what was erased since. */
export const countOlderTransactions = (sql: Sql, instant: string): Promise<number> =>
  queryCount(
    sql,
    `select count(*) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start < $1`,
    [instant],
  );

/** The tables, with those of the system, in whose files erased values can remain. */
const tables = [
  ...["event", "transaction", "agreement", "payment_instrument", "payout", "payout_version", "dead_letter"],
  ...["transparency_entry", "pg_statistic"],
];

/** Statements after which no file of a table or an index has an erased value. Each waits for all that use its table, and they for it. */
export const rewriteStatements = tables.map((table) => `vacuum (full, analyze) ${table}`);

/** Statements that make the space of erased values available to new rows. */
export const vacuumStatements = tables.map((table) => `vacuum (analyze) ${table}`);
