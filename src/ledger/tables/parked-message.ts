import type { Sql } from "../database/database.ts";

export interface ParkedMessage {
  /** The queue's id of the message. */
  source_id: string;
  body: string;
  reason: string;
}

/** Keeps a message aside, once however often it is delivered. */
export async function saveParkedMessage(sql: Sql, message: ParkedMessage): Promise<void> {
  await sql.query(
    `insert into parked_message (source_id, body, reason) values ($1, $2, $3)
     on conflict (source_id) do nothing`,
    [message.source_id, Buffer.from(message.body), message.reason],
  );
}
