import type { Sql } from "../../database/database.ts";
import { nextLookAt } from "../../waiting/news.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { saveDeadLetters } from "../tables/dead-letter.ts";
import type { Resource } from "../tables/event.ts";
import {
  deferDeliveries,
  dueDeliveries,
  type FeedEvent,
  releaseDeferred,
  removeDeferred,
  resourcesWithDeferred,
} from "../tables/feed/deferred-delivery.ts";
import { type FeedRow, isInFeed, positionOf, readFeed } from "../tables/feed/feed.ts";
import { movePublication, PublicationLost } from "../tables/feed/publication.ts";
import { deliveryOf, keyOf } from "./body.ts";
import { problemIn, type Session } from "./session.ts";
import {
  addDeferred,
  addPage,
  deferredResources,
  hasOutcome,
  type Outcome,
  roomIn,
  takeOutcome,
} from "./window.ts";

/** Limits of the events that are read at a time. */
const page = { countMax: 250, bytesMax: 2 ** 20 };
/** Limits of the deferred events that are read at a time. */
const due = { resourcesMax: 50, eventsMax: 200, bytesMax: 2 ** 20 };
/** How often the position, and a problem that changes, are written while events are sent. */
const writeEveryMs = 100;

/** Work of a session with the database. Only one step is done at a time. */
interface Step {
  /** When the step is to be done, on the clock of `performance`; infinite if there is nothing to do. */
  dueAt(session: Session, now: number): number;
  run(session: Session, now: number): Promise<void>;
}

const never = Number.POSITIVE_INFINITY;

/** In the order of their importance. */
export const steps: Step[] = [
  {
    dueAt: ({ dispatch, recordedProblem, next }, now) =>
      problemIn(dispatch, now) === recordedProblem ? never : next.problem,
    run: recordProblem,
  },
  {
    dueAt: ({ dispatch: { window }, next }) => (hasOutcome(window) ? next.outcome : never),
    run: recordOutcome,
  },
  {
    dueAt({ dispatch: { window }, next }) {
      const hasRoom = window.deferredOf.size < due.resourcesMax && window.bytes.deferred < due.bytesMax;
      return hasRoom ? next.due : never;
    },
    run: readDue,
  },
  {
    dueAt({ dispatch: { window }, intervals, endReadAt, looksSinceNews }) {
      const { count, bytes } = roomIn(window);
      // Small pages would cost as many reads as large ones.
      const isWorthwhile = count >= page.countMax && bytes >= page.bytesMax;
      const hasRoom = isWorthwhile || (count > 0 && bytes > 0 && window.order.ready.size === 0);
      return hasRoom ? nextLookAt(endReadAt, intervals.idleDelayMs, looksSinceNews) : never;
    },
    run: readPage,
  },
];

async function recordProblem(session: Session, now: number): Promise<void> {
  session.recordedProblem = problemIn(session.dispatch, now);
  session.next.problem = now + writeEveryMs;
  await session.record();
}

/** Records what became of events, and the position. Rejects with `PublicationLost`. */
export async function recordOutcome(session: Session): Promise<void> {
  const { database, setting, owner, log, next, dispatch } = session;
  const { name } = setting;
  const outcome = takeOutcome(dispatch.window);
  const position = outcome.position ?? session.position;
  const touched = touchedResources(outcome);
  const deadLetters = outcome.deadLetters.map((one) => deadLetterOf(name, one));
  await database.transaction(async (sql) => {
    await requireRead(sql, session);
    await movePublication(sql, name, owner, position);
    await deferDeliveries(sql, name, outcome.deferred);
    await removeDeferred(sql, name, outcome.ended);
    await saveDeadLetters(sql, deadLetters);
    await releaseDeferred(sql, name, touched);
  });
  session.position = position;
  next.outcome = performance.now() + writeEveryMs;
  if (touched.length > 0) next.due = 0;
  for (const { attempts, reason, ...event } of outcome.deferred) if (attempts === 1) log.waits(event, reason);
  for (const { entry, reason } of outcome.deadLetters) log.deadLetter(entry, reason);
}

/** Adds deferred events that are due to the window. */
async function readDue({ database, setting, origin, intervals, next, dispatch }: Session, now: number) {
  const { name, format } = setting;
  const { window } = dispatch;
  const rows = await dueDeliveries(database, name, deferredResources(window), due);
  const entries = await mapInTurns(rows, ({ attempts, ...row }) => ({
    event: eventOf(row),
    delivery: deliveryOf(row, format, origin),
    attempts,
  }));
  addDeferred(window, entries);
  next.due = rows.length > 0 ? now : now + intervals.deferredEveryMs;
}

/** Adds the next page of the feed to the window. Rejects with `PublicationLost`. */
async function readPage(session: Session, now: number): Promise<void> {
  const { database, setting, origin, dispatch } = session;
  const { name, format, resource_types } = setting;
  const { count, bytes } = roomIn(dispatch.window);
  session.looksSinceNews += 1;
  const limits = { countMax: Math.min(count, page.countMax), bytesMax: Math.min(bytes, page.bytesMax) };
  const { events: rows, end, isLast } = await readFeed(database, { resource_types }, session.readTo, limits);
  await requireRead(database, session);
  const blocked = new Set((await resourcesWithDeferred(database, name, rows)).map(keyOf));
  const events = await mapInTurns(rows, (row) => ({
    event: eventOf(row),
    position: positionOf(row),
    delivery: blocked.has(keyOf(row)) ? undefined : deliveryOf(row, format, origin),
  }));
  session.readTo = end;
  session.endReadAt = isLast ? now : Number.NEGATIVE_INFINITY;
  addPage(dispatch.window, { events, end, completeAt: isLast ? now : undefined });
}

/**
 * Rejects if the database lacks the last event that was read: a failover has lost it. The events that were stored since then
 * can have a place before it.
 */
async function requireRead(sql: Sql, { setting, readTo }: Session): Promise<void> {
  if (await isInFeed(sql, readTo)) return;
  throw new PublicationLost(`the last event that was read for ${setting.name} is lost`);
}

const eventOf = ({ sql_transaction, id, resource_type, resource_external_id }: FeedRow): FeedEvent => ({
  sql_transaction,
  event_id: id,
  resource_type,
  resource_external_id,
});

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
