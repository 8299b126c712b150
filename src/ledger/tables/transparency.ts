import type { Sql } from "../../database/database.ts";
import { eventSize } from "./event.ts";

/** What has entries, in this order if one SQL transaction has added several. */
export const kinds = ["event", "redaction", "access"] as const;

/** The end of the log: its size, and the place of its last entry in the feed. */
export interface Head {
  size: bigint;
  sql_transaction: bigint;
  kind: number;
  source_id: bigint;
  /** The last record of an access that has an entry. */
  access_record_id: bigint;
}

export const readHead = async (sql: Sql): Promise<Head> => {
  const [head] = await sql.query<Head>(
    "select size, sql_transaction, kind, source_id, access_record_id from transparency_head",
  );
  return head as Head;
};

/**
 * Lets one SQL transaction at a time seal or redact, so that no salt is stored for values that another one erases. Resolves with
 * false, without waiting, if another one does.
 */
export async function tryToLockLog(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ locked: boolean }>(
    `select pg_try_advisory_xact_lock(${lockKey}) as locked`,
  );
  return row?.locked === true;
}
export const lockLog = (sql: Sql): Promise<unknown> => sql.query(`select pg_advisory_xact_lock(${lockKey})`);
const lockKey = "hashtext('transparency log')";

/** Makes the hashes of the personal data of resources unrelated to it. */
export const removeSalts = (sql: Sql, externalIds: string[]): Promise<unknown> =>
  sql.query(
    `update transparency_entry set salt = null
     from event where kind = 0 and source_id = event.id and resource_external_id = any($1::text[]) and salt is not null`,
    [externalIds],
  );

/** The hash of what an entry says: of its text, followed by the salted hash of the personal data, which is empty without any. */
const contentOf = (text: string, hash: string) => `sha256(convert_to(${text}, 'utf8') || ${hash})`;
const personalHashOf = (salt: string, personal: string) =>
  `sha256(uuid_send(${salt}) || convert_to(${personal}, 'utf8'))`;

const utcText = (instant: string) =>
  `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * What the sources of entries say: a JSON array without personal data, and that of the personal data, which is null without any.
 * Entries have their hashes, so these texts can never change.
 */
const sealedTexts = `
  select json_build_array(
      'event', event.id, resource_type, resource_external_id, parent_resource_external_id, ${utcText("timestamp")},
      event_type, service_id, live, ${utcText("accepted_at")},
      event_details - array(select jsonb_object_keys(event_details - shown_members()))
    )::text as text,
    nullif(json_build_array(event_details - shown_members(), other_members)::text, '[{}, null]') as personal
  from event where kind = 0 and event.id = source_id
  union all
  select json_build_array('redaction', id, resource_external_id, keeps_metadata, ${utcText("redacted_at")})::text, null
  from redaction where kind = 1 and redaction.id = source_id
  union all
  select json_build_array('access', id, ${utcText("recorded_at")})::text,
    json_build_array(
      ${utcText("accessed_at")}, service, operation, subject, client, gateway_account_ids, resource_ids, resource_count,
      status, request_id, reason
    )::text
  from access_record where kind = 2 and access_record.id = source_id`;

/** The places of kinds in the feed after a place, up to `$4`. Records of accesses have the order of their ids there, too. */
const sourcesAfter = `
  (select 0 as kind, event_id as source_id, sql_transaction, gateway_account_id as account from event_feed
   where not only_of_account and (sql_transaction, event_id) > ($1, $2) and sql_transaction < (select event_feed_end())
   order by sql_transaction, event_id limit $4)
  union all
  (select 1, id, sql_transaction, null from redaction
   where (sql_transaction, id) > ($1, $3) and sql_transaction < (select event_feed_end())
   order by sql_transaction, id limit $4)
  union all
  (select 2, id, sql_transaction, null from access_record
   where id > $6 and sql_transaction < (select event_feed_end()) order by id limit $4)`;

/** New entries. */
export interface NewEntries extends Head {
  /** Whether a limit has ended them, so that more can wait. */
  is_full: boolean;
  /** Their hashes, one after another. */
  contents: Uint8Array;
  accounts: (string | null)[];
}

/** A statement hashes no further event when those before it have this many bytes as JSON. */
const bytesMax = 2 * 2 ** 20;

/** Adds the next entries, up to a number. Returns them with the new head; undefined if there are none. */
export async function addEntries(sql: Sql, head: Head, max: number): Promise<NewEntries | undefined> {
  const [added] = await sql.query<NewEntries>(
    `with source as materialized (
       select * from (${sourcesAfter}) as of_kind order by sql_transaction, kind, source_id limit $4
     ), sized as materialized (
       select source.*, coalesce(sum(bytes) over (
         order by sql_transaction, kind, source_id rows between unbounded preceding and 1 preceding
       ), 0) as bytes_before
       from source left join lateral (
         select ${eventSize} as bytes from event where kind = 0 and event.id = source_id
       ) as event on true
     ), salted as materialized (
       select sized.*, text, personal, case when personal is not null then gen_random_uuid() end as salt
       from sized cross join lateral (${sealedTexts}) as texts where bytes_before < ${bytesMax}
     ), made as materialized (
       select *, coalesce(${personalHashOf("salt", "personal")}, '') as personal_hash,
         $5 + row_number() over (order by sql_transaction, kind, source_id) - 1 as index
       from salted
     ), added as (
       insert into transparency_entry (index, kind, source_id, account, salt, personal_hash)
       select index, kind, source_id, account, salt, personal_hash from made
     )
     select * from (
       select index + 1 as size, sql_transaction, kind, source_id,
         greatest($6, (select max(source_id) from made where kind = 2)) as access_record_id,
         (select count(*) from source) >= least($4, (select count(*) from made) + 1) as is_full
       from made order by index desc limit 1
     ) as last cross join (
       select string_agg(${contentOf("text", "personal_hash")}, '' order by index) as contents,
         array_agg(account order by index) as accounts
       from made having count(*) > 0
     ) as entries`,
    [head.sql_transaction, lastIdOf(0, head), lastIdOf(1, head), max, head.size, head.access_record_id],
  );
  return added;
}

/** The last id of a kind in the SQL transaction of the head that is not after it. */
function lastIdOf(kind: number, head: Head): bigint {
  if (kind === head.kind) return head.source_id;
  return kind < head.kind ? 2n ** 63n - 1n : -1n;
}

export const saveHead = (sql: Sql, head: Head): Promise<unknown> =>
  sql.query(
    "update transparency_head set size = $1, sql_transaction = $2, kind = $3, source_id = $4, access_record_id = $5",
    [head.size, head.sql_transaction, head.kind, head.source_id, head.access_record_id],
  );

/**
 * How many first entries have the sources of all SQL transactions up to one. Undefined while the log does not have them all.
 */
export async function sizeUpTo(sql: Sql, sqlTransaction: bigint): Promise<number | undefined> {
  const [found] = await sql.query<{ size: bigint | null }>(
    `select case when event_feed_end() > $1 and count(*) = count(index) then coalesce(max(index) + 1, 0) end as size
     from (
       (select 0 as kind, event_id as source_id from event_feed where not only_of_account and sql_transaction <= $1
        order by sql_transaction desc, event_id desc limit 1)
       union all
       (select 1, id from redaction where sql_transaction <= $1 order by sql_transaction desc, id desc limit 1)
     ) as last left join transparency_entry using (kind, source_id)`,
    [sqlTransaction],
  );
  return found?.size == null ? undefined : Number(found.size);
}

/** The place of a tile. Level 0 has the hashes of leaves, and level -1 the entries. */
export interface TilePlace {
  level: number;
  index: number;
}
export interface Tile extends TilePlace {
  content: Uint8Array;
}

export const readTiles = (sql: Sql, places: TilePlace[]): Promise<Tile[]> =>
  sql
    .query<{ level: number; index: bigint; content: Uint8Array }>(
      `select level, index, content
       from unnest($1::smallint[], $2::bigint[]) as place (level, index) join transparency_tile using (level, index)`,
      [places.map(({ level }) => level), places.map(({ index }) => index)],
    )
    .then((rows) => rows.map((row) => ({ ...row, index: Number(row.index) })));

export const saveTiles = (sql: Sql, tiles: Tile[]): Promise<unknown> =>
  sql.query(
    `insert into transparency_tile (level, index, content)
     select level, index, decode(content, 'base64')
     from unnest($1::smallint[], $2::bigint[], $3::text[]) as tile (level, index, content)
     on conflict (level, index) do update set content = excluded.content`,
    [
      tiles.map(({ level }) => level),
      tiles.map(({ index }) => index),
      tiles.map(({ content }) => Buffer.from(content).toString("base64")),
    ],
  );

/** A checkpoint as a signed note. */
export interface SavedCheckpoint {
  size: bigint;
  note: string;
}

export async function newestCheckpoint(sql: Sql): Promise<SavedCheckpoint | undefined> {
  const [newest] = await sql.query<SavedCheckpoint>(
    "select size, note from transparency_checkpoint order by size desc limit 1",
  );
  return newest;
}

/** The checkpoints that are kept, from the first. */
export const keptCheckpoints = (sql: Sql): Promise<SavedCheckpoint[]> =>
  sql.query("select size, note from transparency_checkpoint order by size");

/** Saves a checkpoint in place of the former ones of the day. */
export const saveCheckpoint = (sql: Sql, size: number, note: string): Promise<unknown> =>
  sql.query(
    `with former as (
       delete from transparency_checkpoint where size < $1 and created_at >= date_trunc('day', clock_timestamp(), 'UTC')
     )
     insert into transparency_checkpoint (size, note) values ($1, $2)
     on conflict (size) do update set note = excluded.note`,
    [size, note],
  );

/** How far the log is: its size, that of the newest checkpoint, and the age of the oldest event without an entry. */
export interface LogState {
  size: bigint;
  checkpoint_size: bigint | null;
  behind_ms: bigint;
}

export async function logState(sql: Sql): Promise<LogState> {
  const [state] = await sql.query<LogState>(
    `select size, (select max(size) from transparency_checkpoint) as checkpoint_size,
       coalesce((
         select greatest(0, extract(epoch from clock_timestamp() - accepted_at) * 1000)::bigint
         from event_feed join event on event.id = event_id
         where not only_of_account and (event_feed.sql_transaction, event_id) >
           (head.sql_transaction, case kind when 0 then source_id else 9223372036854775807 end)
         order by event_feed.sql_transaction, event_id limit 1
       ), 0) as behind_ms
     from transparency_head as head`,
  );
  return state as LogState;
}

/** An entry beside what it says now. */
export interface EntryState {
  index: bigint;
  kind: number;
  source_id: bigint;
  account: string | null;
  /** The place of its source in the feed, with the account there. Null if the feed does not have it. */
  sql_transaction: bigint | null;
  account_in_feed: string | null;
  /** The type and the id of its resource. Null if its source does not exist. */
  resource: string | null;
  /** The hash of what it says now. */
  content: Uint8Array | null;
  has_personal_data: boolean;
  /** Whether it was sealed with personal data, has the salt of it, and whether its hash is that of the salt and the personal data. */
  had_personal_data: boolean;
  is_salted: boolean;
  is_personal_data_same: boolean | null;
  /** Whether its resource is redacted, and whether nothing of its personal data is left. */
  has_redaction: boolean;
  is_redacted: boolean | null;
  /** Whether it was a record of an access that was removed since it was old. */
  was_kept: boolean;
}

/** The entries from an index on, below another one. */
export const entryStates = (sql: Sql, from: number, end: number): Promise<EntryState[]> =>
  sql.query(
    `select entry.*, ${contentOf("text", "personal_hash")} as content,
       personal is not null as has_personal_data, personal_hash <> '' as had_personal_data,
       personal_hash = ${personalHashOf("salt", "personal")} as is_personal_data_same,
       kind = 2 and exists (
         select from access_record_removal where source_id between first_id and last_id
       ) as was_kept
     from (
       select index, kind, source_id, entry.account, salt, salt is not null as is_salted, personal_hash, feed.*, texts.*, own.*
       from transparency_entry as entry
       left join lateral (
         select sql_transaction, gateway_account_id as account_in_feed
         from event_feed where kind = 0 and event_id = source_id and not only_of_account
         union all
         select sql_transaction, null from redaction where kind = 1 and id = source_id
         union all
         select sql_transaction, null from access_record where kind = 2 and id = source_id
       ) as feed on true
       left join lateral (${sealedTexts}) as texts on true
       left join lateral (
         select resource_type || ' ' || resource_external_id as resource, keeps_metadata is not null as has_redaction,
           event_details = redacted_members(event_details, coalesce(keeps_metadata, false))
             and other_members is not distinct from redacted_members(other_members, coalesce(keeps_metadata, false)) as is_redacted
         from event left join lateral (
           select bool_and(keeps_metadata) as keeps_metadata from redaction
           where redaction.resource_external_id = event.resource_external_id
         ) as redaction on true
         where kind = 0 and event.id = source_id
         union all
         select resource_external_id, true, true from redaction where kind = 1 and redaction.id = source_id
         union all
         select concat_ws(' ', operation, subject), false, false from access_record where kind = 2 and access_record.id = source_id
       ) as own on true
       where index >= $1 and index < $2
     ) as entry
     order by index, source_id`,
    [from, end],
    "repeated",
  );

/** Sources at or before a place without an entry, and events without a place in the feed: up to `max`. */
export const withoutEntries = (
  sql: Sql,
  { sql_transaction, kind, source_id, access_record_id }: Head,
  max: number,
) =>
  sql.query<{ kind: number | null; id: bigint }>(
    `(select 0 as kind, event_id as id from event_feed
      where not only_of_account and (sql_transaction, 0, event_id) <= ($1, $2::int, $3)
        and not exists (select from transparency_entry where kind = 0 and source_id = event_id)
      limit $4)
     union all
     (select 1, id from redaction
      where (sql_transaction, 1, id) <= ($1, $2::int, $3)
        and not exists (select from transparency_entry where kind = 1 and source_id = id)
      limit $4)
     union all
     (select 2, id from access_record
      where id <= $5 and not exists (select from transparency_entry where kind = 2 and source_id = id)
      limit $4)
     union all
     (select null, id from event where not exists (select from event_feed where event_id = id and not only_of_account) limit $4)`,
    [sql_transaction, kind, source_id, max, access_record_id],
    "custom",
  );

/** The number of entries, which is the size of the head if nobody has changed either. */
export async function countEntries(sql: Sql): Promise<bigint> {
  const [row] = await sql.query<{ count: bigint }>("select count(*) from transparency_entry");
  return row?.count ?? 0n;
}

/** The number of events without an entry, and that of records of accesses that were removed since they were old. */
export async function outsideOfLog(sql: Sql) {
  const [row] = await sql.query<{ unsealed: bigint; removed: bigint; removed_at: string | null }>(
    `select removal.*, (
       select count(*) from event_feed
       where not only_of_account and (event_feed.sql_transaction, event_id) >
         (head.sql_transaction, case kind when 0 then source_id else 9223372036854775807 end)
     ) as unsealed
     from transparency_head as head cross join (
       select coalesce(sum(last_id - first_id + 1), 0)::bigint as removed, max(removed_at) as removed_at
       from access_record_removal
     ) as removal`,
  );
  return row as NonNullable<typeof row>;
}

/** What a proof shows of an entry. Personal data can be shown with its salt. */
export interface EntryText {
  index: bigint;
  account: string | null;
  text: string;
  personal: string | null;
  /** 16 bytes. */
  salt: Uint8Array | null;
  personal_hash: Uint8Array;
}

/** The entries of a resource, in the order of the log. */
export const entryTexts = (sql: Sql, externalId: string): Promise<EntryText[]> =>
  sql.query(
    `select index, account, text, personal, uuid_send(salt) as salt, personal_hash
     from (
       select 0 as kind, id as source_id from event where resource_external_id = $1
       union all
       select 1, id from redaction where resource_external_id = $1
     ) as source
     join transparency_entry as entry using (kind, source_id)
     cross join lateral (${sealedTexts}) as texts
     order by index`,
    [externalId],
    "custom",
  );
