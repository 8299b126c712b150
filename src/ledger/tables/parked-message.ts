import type { Sql } from "../database/database.ts";

export interface ParkedMessage {
  /** The queue's id of the message. */
  source_id: string;
  body: string;
  reason: string;
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
