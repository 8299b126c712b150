import type { Sql } from "../../database/database.ts";
import { queryCount, queryIds } from "./query.ts";
import { redacted } from "./redaction.ts";

/** A message that can never be stored, or a published event that its target has rejected to the last attempt. */
export interface DeadLetter {
  /** The queue's id of the message, or the target with the number of the event. */
  source_id: string;
  /** The exact bytes of the message. */
  body: Uint8Array;
  /** Why the message cannot succeed. */
  reason: string;
  /** The event and the target that has rejected it. Default: none, the message could not be stored. */
  published?: { target: string; event_id: bigint };
}

/** A dead letter without its body. */
export interface DeadLetterSummary extends Pick<DeadLetter, "source_id" | "reason"> {
  id: bigint;
  /** Null for a message that could not be stored. */
  target: string | null;
  /** Size of the body in bytes. */
  size: number;
  /** UTC, six fraction digits. */
  created_at: string;
  /** When an operator has discarded it; null if it is open. */
  discarded_at: string | null;
  /** Why it was discarded. */
  note: string | null;
}

export interface DeadLetterRow extends DeadLetterSummary {
  /** Null if the body is longer than the limit of the query, since many large bodies do not fit into memory. */
  body: Uint8Array | null;
}

/** The size is read without the body. */
const summaryColumns =
  "id, source_id, reason, octet_length(body) as size, created_at, discarded_at, note, target";
const columns = (bodyBytesMax: string) =>
  `${summaryColumns}, case when octet_length(body) <= ${bodyBytesMax} then body end as body`;

/** Open dead letters are to be replayed or discarded. */
export type DeadLetterState = "open" | "discarded";
const conditions = { open: "discarded_at is null", discarded: "discarded_at is not null" };

/** Dead letters in a state with ids after `after` up to `last`, oldest first, with bodies up to `bodyBytesMax` bytes. */
export const deadLettersAfter = (
  sql: Sql,
  state: DeadLetterState,
  after: bigint,
  last: bigint,
  limit: number,
  bodyBytesMax: number,
): Promise<DeadLetterRow[]> =>
  sql.query(
    `select ${columns("$4")} from dead_letter
     where id > $1 and id <= $2 and ${conditions[state]} order by id limit $3`,
    [after, last, limit, bodyBytesMax],
  );

/** Dead letters in a state with ids before `before`, newest first. */
export const newestDeadLetters = (sql: Sql, state: DeadLetterState, before: bigint, limit: number) =>
  sql.query<DeadLetterSummary>(
    `select ${summaryColumns} from dead_letter where id < $1 and ${conditions[state]} order by id desc limit $2`,
    [before, limit],
    "repeated",
  );

export async function findDeadLetter(sql: Sql, id: bigint, bodyBytesMax: number) {
  const statement = `select ${columns("$2")} from dead_letter where id = $1`;
  const [row] = await sql.query<DeadLetterRow>(statement, [id, bodyBytesMax]);
  return row;
}

/** 0 if there are none. */
export async function newestDeadLetterId(sql: Sql): Promise<bigint> {
  const [id = 0n] = await queryIds<bigint>(sql, "select coalesce(max(id), 0)::bigint as id from dead_letter");
  return id;
}

export async function removeDeadLetters(sql: Sql, ids: bigint[]): Promise<void> {
  await sql.query("delete from dead_letter where id = any($1::bigint[])", [ids]);
}

export async function replaceBody(sql: Sql, id: bigint, body: Uint8Array): Promise<void> {
  const text = Buffer.from(body).toString("base64");
  await sql.query("update dead_letter set body = decode($2, 'base64') where id = $1", [id, text]);
}

/** The body of a published event, of which the event has a copy, without personal data if its resource is redacted. */
const publishedBody = (body: string, eventId: string) => `
  case when exists (
    select from event join redaction using (resource_external_id) where event.id = ${eventId}
  ) then convert_to('${redacted}', 'utf8') else ${body} end`;

/** Erases the bodies of published events whose resources are redacted. Returns their number. */
export const redactPublishedDeadLetters = (sql: Sql): Promise<number> =>
  queryCount(
    sql,
    `with erased as (
       update dead_letter set body = erased from (
         select id, ${publishedBody("body", "event_id")} as erased from dead_letter where event_id is not null
       ) as own
       where own.id = dead_letter.id and body <> erased
       returning 1
     )
     select count(*) from erased`,
    [],
  );

/** Replaces the reason of a dead letter. */
export async function explainDeadLetter(sql: Sql, id: bigint, reason: string): Promise<void> {
  await sql.query("update dead_letter set reason = $2 where id = $1 and reason <> $2", [id, reason]);
}

/** Discards the open dead letters with these ids. Returns the ids of those that were open. */
export const discardDeadLetters = (sql: Sql, ids: bigint[], note: string): Promise<bigint[]> =>
  queryIds(
    sql,
    `update dead_letter set discarded_at = now(), note = $2
     where id = any($1::bigint[]) and discarded_at is null returning id`,
    [ids, note],
  );

/** The number of open dead letters. Counting stops at `max`. */
export const countDeadLetters = (sql: Sql, max: number): Promise<number> =>
  queryCount(
    sql,
    "select count(*) from (select from dead_letter where discarded_at is null limit $1) as counted",
    [max],
  );

/**
 * Saves each message once, however often it is delivered. The order is the same in every receiver, as for all tables, so
 * that receivers cannot deadlock. There is one statement for each message, since there are few and any can be very
 * large. The embedded engine processes text much faster than bytes.
 */
export async function saveDeadLetters(sql: Sql, deadLetters: DeadLetter[]): Promise<void> {
  const statement = `
    insert into dead_letter (source_id, body, reason, target, event_id)
    values ($1, ${publishedBody("decode($2, 'base64')", "$5")}, $3, $4, $5)
    on conflict (source_id) do nothing`;
  const inOrder = deadLetters.toSorted((one, other) => (one.source_id < other.source_id ? -1 : 1));
  const saved = inOrder.map(({ source_id, body, reason, published }) => {
    const text = Buffer.from(body).toString("base64");
    const { target = null, event_id = null } = published ?? {};
    return sql.query(statement, [source_id, text, reason, target, event_id]);
  });
  await Promise.all(saved);
}
