import type { Database } from "../../database/database.ts";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { mapInTurns } from "../../process/turns.ts";
import { saveDeadLetters } from "../tables/dead-letter.ts";
import type { Resource } from "../tables/event.ts";
import { type FeedPosition, positionOf, readFeed } from "../tables/feed.ts";
import {
  type DueDelivery,
  deferDeliveries,
  dueDeliveries,
  movePublication,
  type PublisherState,
  releaseDeferred,
  removeDeferred,
  resourcesWithDeferred,
} from "../tables/publication.ts";
import { deliveryOf, keyOf, type Publisher } from "./body.ts";
import { type Batch, openDispatch } from "./dispatch.ts";
import type { Problem } from "./pace.ts";
import type { Target, TargetSetting } from "./target.ts";
import type { Entry, Outcome } from "./window.ts";

/** Limits of the events that were read and have not ended. A process that takes over sends them again. */
const window = { countMax: 1000, bytesMax: 4 * 2 ** 20 };
/** Limits of the events that are read at a time. */
const page = { countMax: 250, bytesMax: 2 ** 20 };
/** Limits of the deferred events that are read at a time. */
const due = { resourcesMax: 50, eventsMax: 200, bytesMax: 2 ** 20 };
/** How often the position and the state are written while events are sent. */
const writeEveryMs = 100;

export interface SessionPace {
  /** The first delay while the target takes nothing; it is doubled each time, up to five times as long. */
  awayDelayMs: number;
  /** The delay at the end of the feed. */
  idleDelayMs: number;
  /** How often due deliveries are read. */
  deferredEveryMs: number;
}

interface Parts {
  database: Database;
  target: Target;
  setting: TargetSetting;
  publisher: Publisher;
  log: PublishingLog;
  /** The name of this process as the owner of the publication. */
  owner: string;
  /** Where the publication is. */
  position: FeedPosition;
  /** The delays after the attempts for an event. */
  delaysMs: number[];
  pace: SessionPace;
  /** Records the state of the session. */
  record(): Promise<void>;
}

/** The outages that the log shows. */
export function openPublishingLog(log: Logger, target: string) {
  const fields = { target };
  const [away, limited, waiting] = [watchOutage(log), watchOutage(log), watchOutage(log)];
  return {
    problem(problem: Problem | undefined): void {
      const { kind, reason } = problem ?? { kind: undefined, reason: undefined };
      const details = { ...fields, reason };
      if (kind === "away") away.failed("the target of published events takes nothing; they wait", details);
      else away.succeeded();
      if (kind === "limited")
        limited.failed("the target of published events limits them; they wait", details);
      else limited.succeeded();
      if (problem?.kind === "suspect") this.waits(problem.entry.event, problem.reason);
    },
    waits({ event_id, ...resource }: Entry["event"], reason: string | null): void {
      const details = { ...fields, event: event_id, resource: keyOf(resource), reason };
      waiting.failed("an event waits, since its target has not taken it", details);
    },
    taken: () => waiting.succeeded(),
    deadLetter({ event: { event_id, ...resource } }: Entry, reason: string): void {
      const details = { ...fields, event: event_id, resource: keyOf(resource), reason };
      log.warn(details, "an event became a dead letter: its target rejects it");
    },
  };
}
export type PublishingLog = ReturnType<typeof openPublishingLog>;

/**
 * What a process does as the owner of a publication: it reads the feed ahead of the target, sends events while others are in
 * flight, and records what became of them. Only its reads and writes of the database wait for each other.
 */
export function openSession({
  database,
  target,
  setting: { name, format, resource_types },
  publisher,
  log,
  owner,
  delaysMs,
  pace: { awayDelayMs, idleDelayMs, deferredEveryMs },
  record,
  ...parts
}: Parts) {
  const { requestsAtATime, eventsAtATime } = target;
  const dispatch = openDispatch({ requestsAtATime, eventsAtATime, delaysMs, awayDelayMs, ...window });
  const events = dispatch.window;
  const end = new AbortController();
  const bell = openBell();
  const requests = new Set<Promise<void>>();
  let error: unknown;
  /** The position in the database, and that up to which the feed was read. */
  let position = parts.position;
  let readTo = parts.position;
  /** When each of these is done next. */
  const next = { feed: 0, due: 0, write: 0, record: 0 };
  let recordedProblem: string | null | undefined;

  const isIdle = () => requests.size === 0 && events.readyCount() === 0;

  /** Begins all requests that may begin now. */
  function sendReady(): void {
    for (;;) {
      const batch = end.signal.aborted ? undefined : dispatch.next(performance.now());
      if (!batch) return;
      const request = send(batch).catch((err) => {
        error ??= err;
      });
      requests.add(request);
      request.then(() => {
        requests.delete(request);
        bell.ring();
      });
    }
  }

  async function send({ entries, attempt }: Batch): Promise<void> {
    const failures = await target.send(
      entries.map(({ delivery }) => delivery),
      end.signal,
    );
    const now = performance.now();
    if (failures.includes(undefined)) log.taken();
    if (end.signal.aborted) {
      // Attempts that were aborted say nothing.
      const taken = entries.filter((_, index) => failures[index] === undefined);
      return dispatch.settle({ entries: taken, attempt }, [], now);
    }
    dispatch.settle({ entries, attempt }, failures, now);
    log.problem(dispatch.problem(now));
    sendReady();
  }

  async function readPage(now: number): Promise<void> {
    const room = events.room();
    const limits = {
      countMax: Math.min(room.count, page.countMax),
      bytesMax: Math.min(room.bytes, page.bytesMax),
    };
    const read = await readFeed(database, { resource_types }, readTo, limits);
    const blocked = new Set((await resourcesWithDeferred(database, name, read.events)).map(keyOf));
    const added = await mapInTurns(read.events, (row) => ({
      event: eventOf(row),
      position: positionOf(row),
      delivery: blocked.has(keyOf(row)) ? undefined : deliveryOf(row, format, publisher),
    }));
    readTo = read.end;
    events.addPage({ events: added, end: read.end, completeAt: read.isLast ? now : undefined });
    next.feed = read.isLast ? now + idleDelayMs : now;
  }

  async function readDue(now: number): Promise<void> {
    const rows = await dueDeliveries(database, name, events.deferredResources(), due);
    const entries = await mapInTurns(rows, ({ attempts, ...row }) => ({
      event: eventOf(row),
      delivery: deliveryOf(row, format, publisher),
      attempts,
      isDeferred: true,
      isReleased: false,
    }));
    events.addDeferred(entries);
    next.due = rows.length > 0 ? now : now + deferredEveryMs;
  }

  async function write(): Promise<void> {
    const outcome = events.takeOutcome();
    const moved = outcome.position ?? position;
    const touched = touchedResources(outcome);
    await database.transaction(async (sql) => {
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

  const problem = () => problemText(dispatch.problem(performance.now()));

  const hasRoom = () => {
    const room = events.room();
    // Small pages would cost as many reads as large ones.
    const isWorthwhile = room.count >= page.countMax && room.bytes >= page.bytesMax;
    return isWorthwhile || (room.count > 0 && room.bytes > 0 && events.readyCount() === 0);
  };
  const hasRoomForDue = () => {
    const { resources, bytes } = events.deferredLoad();
    return resources < due.resourcesMax && bytes < due.bytesMax;
  };

  /** When each kind of work with the database is due, in the order of their importance. */
  const works = [
    { dueAt: () => (!events.hasOutcome() ? never : isIdle() ? 0 : next.write), run: write },
    { dueAt: () => (problem() === recordedProblem ? never : next.record), run: recordProblem },
    { dueAt: () => (hasRoomForDue() ? next.due : never), run: readDue },
    { dueAt: () => (hasRoom() ? next.feed : never), run: readPage },
  ];

  async function recordProblem(now: number): Promise<void> {
    recordedProblem = problem();
    next.record = now + writeEveryMs;
    await record();
  }

  return {
    state(): PublisherState {
      const completeAt = events.completeAt();
      return {
        completeMs: completeAt === undefined ? null : performance.now() - completeAt,
        problem: problem(),
      };
    },

    /** Publishes until `stop` aborts. What the target has taken until then is recorded. Rejects with `PublicationLost`. */
    async run(stop: AbortSignal): Promise<void> {
      const abort = () => {
        end.abort();
        bell.ring();
      };
      stop.addEventListener("abort", abort, { once: true });
      try {
        while (!stop.aborted && error === undefined) {
          sendReady();
          const now = performance.now();
          const work = works.find(({ dueAt }) => dueAt() <= now);
          if (work) await work.run(now);
          else
            await bell.untilRung(Math.min(dispatch.nextAt(now), ...works.map(({ dueAt }) => dueAt())) - now);
        }
      } finally {
        // Nothing may be in flight when another session begins: it would send later events of the same resource.
        end.abort();
        await Promise.all(requests);
      }
      if (error !== undefined) throw error;
      if (events.hasOutcome()) await write();
    },
  };
}

const never = Number.POSITIVE_INFINITY;
/** The maximum of a timer. */
const waitMaxMs = 60_000;

/** Waits that end early when it rings. A ring before a wait ends the next one. */
function openBell() {
  let isRung = false;
  let end = () => {};
  return {
    ring(): void {
      isRung = true;
      end();
    },
    async untilRung(ms: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, Math.max(0, Math.min(ms, waitMaxMs)));
      end = resolve;
      if (!isRung) await promise;
      clearTimeout(timer);
      isRung = false;
    },
  };
}

const eventOf = ({
  sql_transaction,
  id: event_id,
  resource_type,
  resource_external_id,
}: Omit<DueDelivery, "attempts">): Entry["event"] => ({
  sql_transaction,
  event_id,
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

/** A problem for an operator; null if there is none. */
function problemText(problem: Problem | undefined): string | null {
  if (!problem) return null;
  const { reason } = problem;
  if (problem.kind === "away") return `The target takes nothing: ${reason}`;
  if (problem.kind === "suspect") {
    const { event, delivery } = problem.entry;
    return `The target has not taken event ${event.event_id} of ${delivery.key}: ${reason}`;
  }
  const resumeAt = new Date(performance.timeOrigin + problem.resumeAt);
  return `Limited by the target: nothing is sent before ${resumeAt.toISOString().slice(0, 19)}Z: ${reason}`;
}
