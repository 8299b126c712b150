import type { Database } from "../../database/database.ts";
import type { FeedPosition } from "../tables/feed/feed.ts";
import type { PublisherState } from "../tables/feed/publication.ts";
import type { Publisher } from "./body.ts";
import { openBookkeeping, type Work } from "./bookkeeping.ts";
import { type Batch, openDispatch } from "./dispatch.ts";
import type { Problem } from "./pace.ts";
import type { PublishingLog } from "./publishing-log.ts";
import type { Target } from "./target.ts";
import type { TargetSetting } from "./targets.ts";

/** Limits of the events that were read and have not ended. A process that takes over sends them again. */
const limits = { countMax: 1000, bytesMax: 4 * 2 ** 20 };
/** How often a problem that changes is recorded. */
const recordEveryMs = 100;

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

/**
 * The work of a process that owns a publication: it sends events while others are in flight, and keeps the books meanwhile.
 * Only its reads and writes of the database wait for each other.
 */
export function openSession({ target, log, delaysMs, pace, record, ...parts }: Parts) {
  const { requestsAtATime, eventsAtATime } = target;
  const { awayDelayMs, ...delays } = pace;
  const dispatch = openDispatch({ requestsAtATime, eventsAtATime, delaysMs, awayDelayMs, ...limits });
  const { window } = dispatch;
  const end = new AbortController();
  const bell = openBell();
  const requests = new Set<Promise<void>>();
  let error: unknown;

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
    const deliveries = entries.map(({ delivery }) => delivery);
    const failures = await target.send(deliveries, end.signal);
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

  const problem = () => problemText(dispatch.problem(performance.now()));
  let recorded: { problem: string | null | undefined; at: number } = { problem: undefined, at: 0 };
  const recording: Work = {
    dueAt: () => (problem() === recorded.problem ? Number.POSITIVE_INFINITY : recorded.at + recordEveryMs),
    async run(now) {
      recorded = { problem: problem(), at: now };
      await record();
    },
  };
  const isIdle = () => requests.size === 0 && window.readyCount() === 0;
  const books = openBookkeeping({ ...parts, ...delays, log, window, isIdle });
  const works: Work[] = [recording, ...books.works];

  return {
    state(): PublisherState {
      const completeAt = window.completeAt();
      const completeMs = completeAt === undefined ? null : performance.now() - completeAt;
      return { completeMs, problem: problem() };
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
          const nextAt = () => Math.min(dispatch.nextAt(now), ...works.map(({ dueAt }) => dueAt()));
          if (work) await work.run(now);
          else await bell.untilRung(nextAt() - now);
        }
      } finally {
        // Nothing may be in flight when another session begins: it would send later events of the same resource.
        end.abort();
        await Promise.all(requests);
      }
      if (error !== undefined) throw error;
      await books.finish();
    },
  };
}

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
