import type { Database, Sql } from "../database/database.ts";
import { goingOn } from "../projection/history.ts";
import { newMetadataKeys } from "../projection/metadata.ts";
import { foldPayoutsOnto } from "../projection/payout.ts";
import { foldTransactionsOnto, type Shown, showing, showTheSame } from "../projection/transaction.ts";
import { type ParkedMessage, saveParkedMessages } from "../tables/dead-letter.ts";
import {
  type EventRow,
  eventsSince,
  type NewEvent,
  payoutEventsSince,
  payoutTypes,
  saveEvents,
  transactionTypes,
} from "../tables/event.ts";
import { saveMetadataKeys } from "../tables/metadata-key.ts";
import { type PayoutRow, payoutsOf, removePayouts, savePayouts } from "../tables/payout.ts";
import {
  childrenOf,
  type KeptTransaction,
  keptTransactionsOf,
  lockTransactions,
  removeTransactions,
  type Surroundings,
  saveTransactions,
  surroundingsOf,
} from "../tables/transaction.ts";

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
  const transactions = [...new Set([...idsOf(events.filter(movesTransaction)), ...reprojections])];
  const payouts = [...new Set([...idsOf(events.filter(movesPayout)), ...reprojections])];
  // Every resource is held, those that move nothing too: two receivers with the same events in another order would wait
  // for each other's rows in a circle. Whatever else is written is written in one order after that.
  const toHold = [...new Set([...idsOf(events), ...reprojections, ...parents])];
  // What is kept is read behind the locks, by statements of their own: each sees what is committed when it begins.
  const [held, saved, kept, surroundings, keptPayouts] = await Promise.all([
    toHold.length > 0 ? lockTransactions(sql, toHold) : [],
    events.length > 0 ? saveEvents(sql, events) : [],
    transactions.length > 0 ? keptTransactionsOf(sql, toHold) : [],
    transactions.length > 0 ? surroundingsOf(sql, transactions) : [],
    payouts.length > 0 ? payoutsOf(sql, payouts) : [],
  ]);
  // Rows were looked for of these alone, should a row have got another parent while its lock was waited for.
  const lookedFor = new Set([...toHold, ...kept.flatMap((row) => row.parent_external_id ?? [])]);
  await foldTransactions(sql, {
    added: saved.filter(movesTransaction),
    reprojections,
    kept: new Map(kept.map((row) => [row.external_id, row])),
    surroundings,
    held: held.filter((id) => lookedFor.has(id)),
  });
  await foldPayouts(sql, {
    added: saved.filter(movesPayout),
    reprojections,
    kept: new Map(keptPayouts.map((row) => [row.gateway_payout_id, row])),
  });
  if (parked.length > 0) await saveParkedMessages(sql, parked);
  return saved.length;
}

const movesTransaction = ({ resource_type }: NewEvent) => transactionTypes.includes(resource_type);
const movesPayout = ({ resource_type }: NewEvent) => payoutTypes.includes(resource_type);

const idsOf = (events: NewEvent[]) => events.map((event) => event.resource_external_id);

interface ToFold<Row> {
  /** The events that are new. */
  added: EventRow[];
  reprojections: string[];
  /** The rows that there are, by their ids. */
  kept: Map<string, Row>;
}

interface TransactionsToFold extends ToFold<KeptTransaction> {
  surroundings: Surroundings[];
  /** What is held and has its row, if there is one, among those that are kept. */
  held: string[];
}

/**
 * Folds the touched transactions, and writes their children where they show something else of them now. Whoever writes a
 * child holds its parent, so holding the parents is enough to see every child. A transaction that is asked to be folded
 * again is folded from events alone, and so are those whose details it shows.
 */
async function foldTransactions(
  sql: Sql,
  { added, reprojections, kept, surroundings, held }: TransactionsToFold,
): Promise<void> {
  const touched = new Set([...idsOf(added), ...reprojections]);
  if (touched.size === 0) return;
  const isRebuild = reprojections.length > 0;
  const before = isRebuild ? new Map<string, KeptTransaction>() : kept;
  const withoutRow = new Map(surroundings.map(({ id, events_without_row }) => [id, events_without_row]));
  const { bases, atHand, toRead } = goingOn(isRebuild ? held : touched, added, before, withoutRow);
  const read = toRead.length > 0 ? await eventsSince(sql, toRead) : [];
  const folded = foldTransactionsOnto([...atHand, ...read], bases);
  const rows = [...touched].flatMap((id) => folded.get(id) ?? []);
  const isHeld = new Set(held);
  const notHeld = rows
    .flatMap(({ parent_external_id: parent }) => parent ?? [])
    .filter((id) => !isHeld.has(id));
  if (notHeld.length > 0) throw new ParentsNotHeld(notHeld);
  const after = new Map<string, Shown>([...before, ...folded]);
  const changed = surroundings
    .filter(({ is_parent }) => is_parent)
    .map(({ id }) => id)
    .filter((id) => isRebuild || !showTheSame(before.get(id), after.get(id)));
  const children = changed.length > 0 ? await childrenOf(sql, changed) : [];
  const toSave = [...rows, ...children.filter((child) => !touched.has(child.external_id))];
  await Promise.all([
    saveTransactions(
      sql,
      toSave.map((row) => showing(row, after)),
    ),
    removeTransactions(
      sql,
      [...touched].filter((id) => !folded.has(id)),
    ),
    saveMetadataKeys(sql, newMetadataKeys(rows, [...before.values()])),
  ]);
}

async function foldPayouts(sql: Sql, { added, reprojections, kept }: ToFold<PayoutRow>): Promise<void> {
  const touched = new Set([...idsOf(added), ...reprojections]);
  if (touched.size === 0) return;
  const before = reprojections.length > 0 ? new Map<string, PayoutRow>() : kept;
  const { bases, atHand, toRead } = goingOn(touched, added, before, new Map());
  const read = toRead.length > 0 ? await payoutEventsSince(sql, toRead) : [];
  const folded = foldPayoutsOnto([...atHand, ...read], bases);
  await savePayouts(sql, [...folded.values()]);
  await removePayouts(
    sql,
    [...touched].filter((id) => !folded.has(id)),
  );
}
