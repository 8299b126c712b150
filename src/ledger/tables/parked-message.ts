import type { Sql } from "../database/database.ts";

export interface ParkedMessage {
  /** The queue's id of the message. */
  source_id: string;
  /** Byte for byte, as it came. */
  body: Uint8Array;
  reason: string;
}

export interface ParkedMessageRow extends ParkedMessage {
  id: bigint;
  /** UTC, six fraction digits. */
  parked_at: string;
}

/** Those with a number behind `after` and up to `last`, in the order in which they were parked. */
export async function parkedMessagesAfter(
  sql: Sql,
  after: bigint,
  last: bigint,
  limit: number,
): Promise<ParkedMessageRow[]> {
  const statement = "select * from parked_message where id > $1 and id <= $2 order by id limit $3";
  return sql.query<ParkedMessageRow>(statement, [after, last, limit]);
}

export async function findParkedMessage(sql: Sql, id: bigint): Promise<ParkedMessageRow | undefined> {
  const [row] = await sql.query<ParkedMessageRow>("select * from parked_message where id = $1", [id]);
  return row;
}

/** 0 when none is parked. */
export async function newestParkedId(sql: Sql): Promise<bigint> {
  const [row] = await sql.query<{ id: bigint }>(
    "select coalesce(max(id), 0)::bigint as id from parked_message",
  );
  return row?.id ?? 0n;
}

/** Removes those that are still there, and answers them. */
export async function removeParkedMessages(sql: Sql, ids: bigint[]): Promise<ParkedMessageRow[]> {
  const statement = "delete from parked_message where id = any($1::bigint[]) returning *";
  return sql.query<ParkedMessageRow>(statement, [ids]);
}

export async function countParkedMessages(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ count: bigint }>("select count(*) from parked_message");
  return Number(row?.count);
}

/** Keeps messages aside, each once however often it is delivered; in one order, as all that receivers write. */
export async function saveParkedMessages(sql: Sql, messages: ParkedMessage[]): Promise<void> {
  await sql.query(
    `insert into parked_message (source_id, body, reason)
     select source_id, decode(body, 'base64'), reason
     from jsonb_to_recordset($1::jsonb) as new_row (source_id text, body text, reason text)
     order by source_id
     on conflict (source_id) do nothing`,
    [
      JSON.stringify(
        messages.map((message) => ({ ...message, body: Buffer.from(message.body).toString("base64") })),
      ),
    ],
  );
}
