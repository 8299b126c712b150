import { type Database, isPermanent, type Sql } from "../../database/database.ts";
import { inChunks } from "../../values/chunks.ts";
import { letOthersRun } from "../../waiting/turns.ts";
import { Folds, planFold } from "../projection/history.ts";
import { newMetadataKeys } from "../projection/metadata.ts";
import { agreementNamedBy } from "../projection/payment-instrument.ts";
import {
  type ShownByChildren,
  showTheSame,
  transactionProjection,
  withPaymentDetails,
} from "../projection/transaction.ts";
import { type DeadLetter, removeDeadLetters, saveDeadLetters } from "../tables/dead-letter.ts";
import {
  awaitStandby,
  type EventRow,
  eventsInPieces,
  type NewEvent,
  saveEvents,
  transactionTypes,
} from "../tables/event.ts";
import { lockResources } from "../tables/lock.ts";
import { saveMetadataKeys } from "../tables/metadata-key.ts";
import { instrumentsMax, withTooManyInstruments } from "../tables/payment-instrument.ts";
import { inheritRedactions, type Relation, redactEvents, redactPayoutVersions } from "../tables/redaction.ts";
import { countEventsOf } from "../tables/resource.ts";
import { countWrites, LimitExceeded } from "../tables/save-statement.ts";
import { rebuildOutlines } from "../tables/search/outline.ts";
import {
  type CurrentTransaction,
  childrenMax,
  childrenOf,
  currentTransactions,
  type Relations,
  relationsOf,
  transactionTable,
  withTooManyChildren,
} from "../tables/transaction.ts";
import { withRedactions } from "./redacted-dead-letters.ts";
import { resourceFolds } from "./resource-folds.ts";

/** The contents of a batch of messages. */
export interface Batch {
  events: NewEvent[];
  /** External ids of resources whose projections are rebuilt from all their events. */
  rebuilds: string[];
  deadLetters: DeadLetter[];
  /** Erases the personal data of the resources whose projections are rebuilt. Default: no. */
  redaction?: { keepsMetadata: boolean };
  /** Numbers of the dead letters whose messages these are. They are removed. Default: none. */
  replayed?: bigint[];
}

/** What a batch has changed. */
export interface Ingested {
  /** The new events. */
  stored: EventRow[];
  /** The number of rows that a rebuild has inserted, replaced or removed. Without rebuilds it is 0. */
  changedRows: number;
}

/**
 * Stores the events of a batch and updates the projections of their resources, all or none. Rebuilds come before, in
 * transactions of their own. It is safe to repeat and safe while other receivers run.
 */
export async function ingest(database: Database, batch: Batch): Promise<Ingested> {
  let changedRows = 0;
  for (const rebuilds of await rebuildsInPieces(database, batch.rebuilds)) {
    const piece = { ...batch, events: [], rebuilds, deadLetters: [], replayed: [] };
    changedRows += (await ingestWithLocks(database, piece, [])).changedRows;
  }
  const { events, deadLetters, replayed = [] } = batch;
  if (batch.rebuilds.length > 0 && events.length + deadLetters.length + replayed.length === 0) {
    return { stored: [], changedRows };
  }
  const related = relationsIn(events).map(({ parent }) => parent);
  const { stored } = await ingestWithLocks(database, { ...batch, rebuilds: [] }, related);
  return { stored, changedRows };
}

/** Maximum number of events that a transaction reads to rebuild several resources, for which the embedded engine takes 15 ms. */
const rebuiltEventsMax = 300;

/** Divides resources into those that are rebuilt in one transaction, so that others have their turns between them. */
export async function rebuildsInPieces(sql: Sql, ids: string[]): Promise<string[][]> {
  if (ids.length === 0) return [];
  const distinct = [...new Set(ids)];
  if (distinct.length === 1) return [distinct];
  const counts = await countEventsOf(sql, distinct, rebuiltEventsMax);
  const counted = distinct.map((id, index) => ({ id, count: counts[index] as number }));
  const pieces = inChunks(counted, ({ count }) => count, rebuiltEventsMax);
  return pieces.map((piece) => piece.map(({ id }) => id));
}

/** `related` has the ids of other resources that the events name. */
async function ingestWithLocks(database: Database, batch: Batch, related: string[]): Promise<Ingested> {
  // Not in the transaction, since others wait for its locks.
  await letOthersRun();
  try {
    return await database.transaction((sql) => ingestOnce(sql, batch, related));
  } catch (error) {
    if (error instanceof ParentsRedacted) {
      const redacts = {
        events: [],
        rebuilds: error.cause,
        deadLetters: [],
        redaction: { keepsMetadata: false },
      };
      await ingest(database, redacts);
      return ingestWithLocks(database, batch, related);
    }
    if (!(error instanceof ParentsNotLocked)) throw error;
    return ingestWithLocks(database, batch, [...related, ...error.cause]);
  }
}

/** The resources to which those of the events belong. */
const relationsIn = (events: NewEvent[]): Relation[] =>
  events.flatMap((event) =>
    [event.parent_resource_external_id ?? [], agreementsOf(event)]
      .flat()
      .map((parent) => ({ id: event.resource_external_id, parent })),
  );

/** The agreement that an event of a payment instrument names, if any. */
function agreementsOf({ resource_type, event_details }: NewEvent): string[] {
  const id = resource_type === "payment_instrument" ? agreementNamedBy(event_details) : null;
  return id === null ? [] : [id];
}

/** Stored events name more parents: another receiver has stored them since the locks were chosen. */
class ParentsNotLocked extends Error {
  declare readonly cause: string[];
}

/** Resources must be redacted before, since those to which they belong are. */
class ParentsRedacted extends Error {
  declare readonly cause: string[];
}

/** Why a message can never be ingested; undefined if this error is transient or unexpected. */
export function permanentReason(error: unknown): string | undefined {
  if (error instanceof LimitExceeded) return error.message;
  return isPermanent(error)
    ? `the database rejects it (SQLSTATE ${(error as { code?: string }).code})`
    : undefined;
}

async function ingestOnce(
  sql: Sql,
  { events, rebuilds, deadLetters, redaction, replayed = [] }: Batch,
  related: string[],
): Promise<Ingested> {
  const writesBefore = rebuilds.length > 0 ? await countWrites(sql) : 0;
  const idsIn = (isOfKind: (event: NewEvent) => boolean) => [
    ...new Set([...idsOf(events.filter(isOfKind)), ...rebuilds]),
  ];
  const transactions = idsIn(isOfTransaction);
  const kinds = resourceFolds
    .map(({ type, open }) => ({ type, open, ids: idsIn(({ resource_type }) => resource_type === type) }))
    .filter(({ ids }) => ids.length > 0);
  // Every resource is locked, also without a projection: otherwise two receivers with the same events in different orders
  // would deadlock on the rows. Everything else is written in one order after that.
  const toLock = [...new Set([...idsOf(events), ...rebuilds, ...related])];
  // The projections are read in their own statements after the locks, so that they see everything that was committed.
  const belonging = relationsIn(events);
  const [locked, inheriting, , saved, current, relations, opened] = await Promise.all([
    toLock.length > 0 ? lockResources(sql, toLock) : [],
    belonging.length > 0 ? inheritRedactions(sql, belonging) : [],
    redaction && redactEvents(sql, rebuilds, redaction.keepsMetadata),
    events.length > 0 ? saveEvents(sql, events) : [],
    transactions.length > 0 ? currentTransactions(sql, toLock) : [],
    transactions.length > 0 ? relationsOf(sql, transactions) : [],
    Promise.all(kinds.map(async ({ type, open, ids }) => ({ type, fold: await open(sql, ids) }))),
  ]);
  if (inheriting.length > 0) throw new ParentsRedacted("parents are redacted", { cause: inheriting });
  // Only these rows were read. A row may have got another parent while its lock was awaited.
  const read = new Set([...toLock, ...current.flatMap((row) => row.parent_external_id ?? [])]);
  await updateTransactions(sql, {
    added: saved.filter(isOfTransaction),
    rebuilds,
    current: new Map(current.map((row) => [row.external_id, row])),
    relations,
    locked: locked.filter((id) => read.has(id)),
  });
  for (const { type, fold } of opened) {
    const added = saved.filter(({ resource_type }) => resource_type === type);
    await fold(added, rebuilds.length > 0);
  }
  await requireFewInstruments(sql, saved);
  if (saved.length === 0) await awaitStandby(sql);
  if (redaction) await redactPayoutVersions(sql, rebuilds);
  if (deadLetters.length > 0) await saveDeadLetters(sql, await withRedactions(sql, deadLetters));
  if (replayed.length > 0) await removeDeadLetters(sql, replayed);
  if (rebuilds.length === 0) return { stored: saved, changedRows: 0 };
  const rows = (await countWrites(sql)) - writesBefore;
  return { stored: saved, changedRows: rows + (await rebuildOutlines(sql, rebuilds)) };
}

const isOfTransaction = ({ resource_type }: NewEvent) => transactionTypes.includes(resource_type);

const idsOf = (events: NewEvent[]) => events.map((event) => event.resource_external_id);

interface TransactionUpdate {
  /** The new events. */
  added: EventRow[];
  rebuilds: string[];
  /** The current rows, by id. */
  current: Map<string, CurrentTransaction>;
  relations: Relations[];
  /** The locked ids. The current row of each, if there is one, is in `current`. */
  locked: string[];
}

/**
 * Folds the new events into their transactions, and updates children that show different details now. A writer of a child
 * locks its parent, so a locked parent has no unseen children. A rebuild folds all events of a transaction and of its
 * parent, without the current rows.
 */
async function updateTransactions(
  sql: Sql,
  { added, rebuilds, current, relations, locked }: TransactionUpdate,
): Promise<void> {
  const touched = new Set([...idsOf(added), ...rebuilds]);
  if (touched.size === 0) return;
  const isRebuild = rebuilds.length > 0;
  const before = isRebuild ? new Map<string, CurrentTransaction>() : current;
  const withoutRow = new Map(relations.map(({ id, events_without_row }) => [id, events_without_row]));
  const { bases, known, missing } = planFold(isRebuild ? locked : touched, added, before, withoutRow);
  const folds = new Folds(transactionProjection, bases);
  folds.add(known);
  for await (const events of eventsInPieces(sql, transactionTypes, missing)) folds.add(events);
  const folded = folds.rows();
  const rows = [...touched].flatMap((id) => folded.get(id) ?? []);
  const isLocked = new Set(locked);
  const notLocked = rows
    .flatMap(({ parent_external_id: parent }) => parent ?? [])
    .filter((id) => !isLocked.has(id));
  if (notLocked.length > 0) throw new ParentsNotLocked("parents are not locked", { cause: notLocked });
  const after = new Map<string, ShownByChildren>([...before, ...folded]);
  const changed = relations
    .filter(({ is_parent }) => is_parent)
    .map(({ id }) => id)
    .filter((id) => isRebuild || !showTheSame(before.get(id), after.get(id)));
  const children = changed.length > 0 ? await childrenOf(sql, changed) : [];
  const toSave = [...rows, ...children.filter((child) => !touched.has(child.external_id))];
  const newParents = new Set(
    rows.flatMap(({ external_id, parent_external_id: parent }) =>
      parent === null || current.get(external_id)?.parent_external_id === parent ? [] : parent,
    ),
  );
  await letOthersRun();
  const shown = toSave.map((row) => withPaymentDetails(row, after));
  const removed = [...touched].filter((id) => !folded.has(id));
  const [, , , tooMany] = await Promise.all([
    transactionTable.save(sql, shown),
    transactionTable.remove(sql, removed),
    saveMetadataKeys(sql, newMetadataKeys(rows, [...before.values()])),
    newParents.size > 0 ? withTooManyChildren(sql, [...newParents]) : [],
  ]);
  if (tooMany.length > 0) {
    throw new LimitExceeded(
      `the parent would have more than ${childrenMax.toLocaleString("en")} refunds and disputes`,
    );
  }
}

/** The agreements are locked, so that no other receiver adds payment instruments to them meanwhile. */
async function requireFewInstruments(sql: Sql, saved: EventRow[]): Promise<void> {
  const agreements = new Set(saved.flatMap(agreementsOf));
  if (agreements.size === 0) return;
  const tooMany = await withTooManyInstruments(sql, [...agreements]);
  if (tooMany.length > 0)
    throw new LimitExceeded(`the agreement would have more than ${instrumentsMax} payment instruments`);
}
