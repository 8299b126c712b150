import type { Sql } from "../database/database.ts";

export interface ParkedMessage {
  /** The queue's id of the message. */
  source_id: string;
  /** Byte for byte, as it came. */
  body: Uint8Array;
  reason: string;
}

export interface ParkedMessageRow extends Omit<ParkedMessage, "body"> {
  id: bigint;
  /** Null when it is longer than was asked for: many that are very large do not fit into a memory. */
  body: Uint8Array | null;
  /** UTC, six fraction digits. */
  parked_at: string;
}

const columns = (bodyMax: string) =>
  `id, source_id, reason, parked_at, case when octet_length(body) <= ${bodyMax} then body end as body`;

/**
 * Those with a number behind `after` and up to `last`, in the order in which they were parked, their bodies up to so many
 * bytes.
 */
export async function parkedMessagesAfter(
  sql: Sql,
  after: bigint,
  last: bigint,
  limit: number,
  bodyMax: number,
): Promise<ParkedMessageRow[]> {
  const statement = `
    select ${columns("$4")} from parked_message where id > $1 and id <= $2 order by id limit $3`;
  return sql.query<ParkedMessageRow>(statement, [after, last, limit, bodyMax]);
}

export async function findParkedMessage(
  sql: Sql,
  id: bigint,
  bodyMax: number,
): Promise<ParkedMessageRow | undefined> {
  const statement = `select ${columns("$2")} from parked_message where id = $1`;
  const [row] = await sql.query<ParkedMessageRow>(statement, [id, bodyMax]);
  return row;
}

/** 0 when none is parked. */
export async function newestParkedId(sql: Sql): Promise<bigint> {
  const [row] = await sql.query<{ id: bigint }>(
    "select coalesce(max(id), 0)::bigint as id from parked_message",
  );
  return row?.id ?? 0n;
}

/** Removes those that are still there, and answers their bodies. */
export async function removeParkedMessages(sql: Sql, ids: bigint[]): Promise<Uint8Array[]> {
  const statement = "delete from parked_message where id = any($1::bigint[]) returning body";
  const rows = await sql.query<{ body: Uint8Array }>(statement, [ids]);
  return rows.map(({ body }) => body);
}

export async function countParkedMessages(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ count: bigint }>("select count(*) from parked_message");
  return Number(row?.count);
}

/**
 * Keeps messages aside, each once however often it is delivered; in one order, as all that receivers write. One by one,
 * since there are few and any of them can be very large. The embedded engine takes text much faster than bytes.
 */
export async function saveParkedMessages(sql: Sql, messages: ParkedMessage[]): Promise<void> {
  const statement = `
    insert into parked_message (source_id, body, reason) values ($1, decode($2, 'base64'), $3)
    on conflict (source_id) do nothing`;
  const inOrder = messages.toSorted((one, other) => (one.source_id < other.source_id ? -1 : 1));
  await Promise.all(
    inOrder.map(({ source_id, body, reason }) =>
      sql.query(statement, [source_id, Buffer.from(body).toString("base64"), reason]),
    ),
  );
}
