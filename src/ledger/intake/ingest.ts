import type { Database, Sql } from "../database/database.ts";
import { projectMetadataKeys } from "../projection/metadata.ts";
import { projectPayouts } from "../projection/payout.ts";
import { projectTransactions } from "../projection/transaction.ts";
import { type EventRow, eventsOf, type NewEvent, payoutEventsOf, saveEvents } from "../tables/event.ts";
import { saveMetadataKeys } from "../tables/metadata-key.ts";
import { type ParkedMessage, saveParkedMessages } from "../tables/parked-message.ts";
import { removePayouts, savePayouts } from "../tables/payout.ts";
import { childIdsOf, lockTransactions, removeTransactions, saveTransactions } from "../tables/transaction.ts";

/** What a batch of messages amounts to. */
export interface Batch {
  events: NewEvent[];
  /** External ids of transactions and payouts to fold again although nothing new is known of them. */
  reprojections: string[];
  parked: ParkedMessage[];
}

/**
 * Stores the events of a batch and brings the transactions and payouts they touch up to date, or does nothing at all.
 * Safe to repeat, and safe beside any number of others that do the same. Resolves with how many of the events are new.
 */
export const ingest = (database: Database, batch: Batch): Promise<number> =>
  ingestHolding(
    database,
    batch,
    batch.events.flatMap((event) => event.parent_resource_external_id ?? []),
  );

async function ingestHolding(database: Database, batch: Batch, parents: string[]): Promise<number> {
  try {
    return await database.transaction((sql) => ingestOnce(sql, batch, parents));
  } catch (error) {
    if (!(error instanceof ParentsNotHeld)) throw error;
    return ingestHolding(database, batch, [...parents, ...error.parents]);
  }
}

/** Stored events told of more parents: another receiver stored those between our looking and our locking. */
class ParentsNotHeld extends Error {
  readonly parents: string[];

  constructor(parents: string[]) {
    super("parents are not held");
    this.parents = parents;
  }
}

async function ingestOnce(
  sql: Sql,
  { events, reprojections, parked }: Batch,
  parents: string[],
): Promise<number> {
  const ofTransactions = events.filter(({ resource_type }) => movesTransactions.has(resource_type));
  const ofPayouts = events.filter(({ resource_type }) => resource_type === "payout");
  const transactions = new Set([...idsOf(ofTransactions), ...reprojections]);
  const payouts = new Set([...idsOf(ofPayouts), ...reprojections]);
  // Every resource is held, those that move nothing too: two receivers with the same events in another order would wait
  // for each other's rows in a circle. Whatever else is written is written in one order after that.
  const toHold = [...new Set([...idsOf(events), ...reprojections, ...parents])];
  const [held, saved, children] = await Promise.all([
    toHold.length > 0 ? lockTransactions(sql, toHold) : [],
    events.length > 0 ? saveEvents(sql, events) : [],
    transactions.size > 0 ? childIdsOf(sql, [...transactions]) : [],
  ]);
  const touched = [...new Set([...saved, ...reprojections])];
  await foldTransactions(
    sql,
    touched.filter((id) => transactions.has(id)),
    children,
    held,
  );
  await foldPayouts(
    sql,
    touched.filter((id) => payouts.has(id)),
  );
  if (parked.length > 0) await saveParkedMessages(sql, parked);
  return saved.length;
}

const movesTransactions = new Set(["payment", "refund", "dispute"]);

const idsOf = (events: NewEvent[]) => events.map((event) => event.resource_external_id);

/**
 * Folds the touched transactions and their children anew. Whoever writes a child holds its parent, so holding the
 * parents is enough to see every event of their children.
 */
async function foldTransactions(
  sql: Sql,
  touched: string[],
  children: string[],
  held: string[],
): Promise<void> {
  if (touched.length === 0) return;
  const events = await eventsOf(sql, [...new Set([...held, ...children])]);
  const changed = new Set([...touched, ...children]);
  const toSave = projectTransactions(events).filter((row) => changed.has(row.external_id));
  const isHeld = new Set(held);
  const notHeld = toSave
    .flatMap(({ parent_external_id: parent }) => parent ?? [])
    .filter((id) => !isHeld.has(id));
  if (notHeld.length > 0) throw new ParentsNotHeld(notHeld);
  await Promise.all([
    saveTransactions(sql, toSave),
    removeTransactions(sql, unfolded(touched, events)),
    saveMetadataKeys(sql, projectMetadataKeys(events)),
  ]);
}

async function foldPayouts(sql: Sql, touched: string[]): Promise<void> {
  if (touched.length === 0) return;
  const events = await payoutEventsOf(sql, touched);
  await savePayouts(sql, projectPayouts(events));
  await removePayouts(sql, unfolded(touched, events));
}

/** Those that no event tells of: what was asked to be folded again may be no more than a row. */
function unfolded(touched: string[], events: EventRow[]): string[] {
  const told = new Set(events.map((event) => event.resource_external_id));
  return touched.filter((id) => !told.has(id));
}
