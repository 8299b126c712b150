import type { Database, Sql } from "../../database/database.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { saveDeadLetters } from "../tables/dead-letter.ts";
import type { Resource } from "../tables/event.ts";
import { type FeedPosition, type FeedRow, isInFeed, positionOf, readFeed } from "../tables/feed/feed.ts";
import {
  deferDeliveries,
  dueDeliveries,
  movePublication,
  PublicationLost,
  releaseDeferred,
  removeDeferred,
  resourcesWithDeferred,
} from "../tables/feed/publication.ts";
import { deliveryOf, keyOf, type Publisher } from "./body.ts";
import type { PublishingLog } from "./publishing-log.ts";
import type { TargetSetting } from "./targets.ts";
import type { Entry, Outcome, Window } from "./window.ts";

/** Limits of the events that are read at a time. */
const page = { countMax: 250, bytesMax: 2 ** 20 };
/** Limits of the deferred events that are read at a time. */
const due = { resourcesMax: 50, eventsMax: 200, bytesMax: 2 ** 20 };
/** How often the position is written while events are sent. */
const writeEveryMs = 100;

/** Work with the database. Only one is done at a time. */
export interface Work {
  /** When it is to be done, on the clock of `performance`; infinite if there is nothing to do. */
  dueAt(): number;
  run(now: number): Promise<void>;
}

interface Parts {
  database: Database;
  setting: TargetSetting;
  publisher: Publisher;
  log: PublishingLog;
  /** The name of this process as the owner of the publication. */
  owner: string;
  /** Where the publication is. */
  position: FeedPosition;
  window: Window;
  /** The delay at the end of the feed. */
  idleDelayMs: number;
  /** How often due deliveries are read. */
  deferredEveryMs: number;
  /** True if nothing is in flight or can be sent now. */
  isIdle(): boolean;
}

/** Fills the window with events of the feed and deferred ones that are due, and records what became of them. */
export function openBookkeeping({
  database,
  setting: { name, format, resource_types },
  publisher,
  log,
  owner,
  window,
  idleDelayMs,
  deferredEveryMs,
  isIdle,
  ...parts
}: Parts) {
  /** The position in the database, and that up to which the feed was read. */
  let position = parts.position;
  let readTo = parts.position;
  /** When each of these is done next. */
  const next = { page: 0, due: 0, write: 0 };

  /**
   * Rejects if the database lacks the last event that was read: a failover has lost it. The events that were stored since then
   * can have a place before it.
   */
  async function requireRead(sql: Sql): Promise<void> {
    if (await isInFeed(sql, readTo)) return;
    throw new PublicationLost(`the last event that was read for ${name} is lost`);
  }

  async function readPage(now: number): Promise<void> {
    const room = window.room();
    const limits = {
      countMax: Math.min(room.count, page.countMax),
      bytesMax: Math.min(room.bytes, page.bytesMax),
    };
    const read = await readFeed(database, { resource_types }, readTo, limits);
    await requireRead(database);
    const blocked = new Set((await resourcesWithDeferred(database, name, read.events)).map(keyOf));
    const events = await mapInTurns(read.events, (row) => ({
      event: eventOf(row),
      position: positionOf(row),
      delivery: blocked.has(keyOf(row)) ? undefined : deliveryOf(row, format, publisher),
    }));
    readTo = read.end;
    window.addPage({ events, end: read.end, completeAt: read.isLast ? now : undefined });
    next.page = read.isLast ? now + idleDelayMs : now;
  }

  async function readDue(now: number): Promise<void> {
    const rows = await dueDeliveries(database, name, window.deferredResources(), due);
    const entries = await mapInTurns(rows, ({ attempts, ...row }) => ({
      event: eventOf(row),
      delivery: deliveryOf(row, format, publisher),
      attempts,
      isDeferred: true,
      isReleased: false,
    }));
    window.addDeferred(entries);
    next.due = rows.length > 0 ? now : now + deferredEveryMs;
  }

  async function write(): Promise<void> {
    const outcome = window.takeOutcome();
    const moved = outcome.position ?? position;
    const touched = touchedResources(outcome);
    await database.transaction(async (sql) => {
      await requireRead(sql);
      await movePublication(sql, name, owner, moved);
      await deferDeliveries(sql, name, outcome.deferred);
      await removeDeferred(sql, name, outcome.ended);
      await saveDeadLetters(
        sql,
        outcome.deadLetters.map((one) => deadLetterOf(name, one)),
      );
      await releaseDeferred(sql, name, touched);
    });
    position = moved;
    next.write = performance.now() + writeEveryMs;
    if (touched.length > 0) next.due = 0;
    for (const { attempts, reason, ...event } of outcome.deferred)
      if (attempts === 1) log.waits(event, reason);
    for (const { entry, reason } of outcome.deadLetters) log.deadLetter(entry, reason);
  }

  function hasRoom(): boolean {
    const room = window.room();
    // Small pages would cost as many reads as large ones.
    const isWorthwhile = room.count >= page.countMax && room.bytes >= page.bytesMax;
    return isWorthwhile || (room.count > 0 && room.bytes > 0 && window.readyCount() === 0);
  }

  function hasRoomForDue(): boolean {
    const { resources, bytes } = window.deferredLoad();
    return resources < due.resourcesMax && bytes < due.bytesMax;
  }

  return {
    /** In the order of their importance. */
    works: [
      { dueAt: () => (!window.hasOutcome() ? never : isIdle() ? 0 : next.write), run: write },
      { dueAt: () => (hasRoomForDue() ? next.due : never), run: readDue },
      { dueAt: () => (hasRoom() ? next.page : never), run: readPage },
    ] satisfies Work[],

    /** Records what is left. Rejects with `PublicationLost`. */
    async finish(): Promise<void> {
      if (window.hasOutcome()) await write();
    },
  };
}

const never = Number.POSITIVE_INFINITY;

const eventOf = ({
  sql_transaction,
  id: event_id,
  resource_type,
  resource_external_id,
}: FeedRow): Entry["event"] => ({ sql_transaction, event_id, resource_type, resource_external_id });

/** The resources whose first deferred event may have changed, each once. */
function touchedResources({ deferred, ended }: Outcome): Resource[] {
  const touched = [...deferred.filter(({ delayMs }) => delayMs === null), ...ended];
  return [...new Map(touched.map((one) => [keyOf(one), one])).values()];
}

const deadLetterOf = (
  target: string,
  { entry: { event, delivery }, reason }: Outcome["deadLetters"][number],
) => ({
  source_id: `${target} ${event.event_id}`,
  body: Buffer.from(delivery.body),
  reason: `the target rejects it: ${reason}`,
  published: { target, event_id: event.event_id },
});
