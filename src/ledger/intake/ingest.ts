import type { Database, Sql } from "../database/database.ts";
import { projectTransactions } from "../projection/transaction.ts";
import { eventsOf, type NewEvent, saveEvents } from "../tables/event.ts";
import { type ParkedMessage, saveParkedMessage } from "../tables/parked-message.ts";
import { childIdsOf, lockTransactions, saveTransactions } from "../tables/transaction.ts";

/** What a batch of messages amounts to. */
export interface Batch {
  events: NewEvent[];
  /** External ids of transactions to fold again although nothing new is known of them. */
  reprojections: string[];
  parked: ParkedMessage[];
}

/**
 * Stores the events of a batch and brings the transactions they touch up to date, or does nothing at all. Safe to
 * repeat, and safe beside any number of others that do the same.
 */
export async function ingest(database: Database, batch: Batch): Promise<void> {
  let done = false;
  while (!done) {
    done = await database.transaction((sql) => ingestOnce(sql, batch)).catch(beginAgain);
  }
}

/** A parent became known, to another receiver, between our looking and our locking; seen once in a transaction's life. */
class ParentNotHeld extends Error {}

function beginAgain(error: unknown): false {
  if (error instanceof ParentNotHeld) return false;
  throw error;
}

async function ingestOnce(sql: Sql, { events, reprojections, parked }: Batch): Promise<true> {
  for (const message of parked) await saveParkedMessage(sql, message);
  const moving = events.filter((event) => movesTransactions.has(event.resource_type));
  const resources = moving.map((event) => event.resource_external_id);
  const parents = moving.flatMap((event) => event.parent_resource_external_id ?? []);
  const touchable = [...new Set([...resources, ...reprojections])];
  const held =
    touchable.length > 0 ? await lockTransactions(sql, [...new Set([...touchable, ...parents])]) : [];
  const saved = new Set(events.length > 0 ? await saveEvents(sql, events) : []);
  const touched = touchable.filter((id) => saved.has(id) || reprojections.includes(id));
  if (touched.length > 0) await projectTouched(sql, touched, held);
  return true;
}

const movesTransactions = new Set(["payment", "refund", "dispute"]);

/**
 * Folds the touched transactions and their children anew. Whoever writes a child holds its parent, so holding the
 * parents is enough to see every event of their children.
 */
async function projectTouched(sql: Sql, touched: string[], held: string[]): Promise<void> {
  const children = await childIdsOf(sql, touched);
  const rows = projectTransactions(await eventsOf(sql, [...new Set([...held, ...children])]));
  const changed = new Set([...touched, ...children]);
  const toSave = rows.filter((row) => changed.has(row.external_id));
  const isHeld = new Set(held);
  if (toSave.some(({ parent_external_id: parent }) => parent !== null && !isHeld.has(parent))) {
    throw new ParentNotHeld();
  }
  await saveTransactions(sql, toSave);
}
