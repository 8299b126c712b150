import type { Database } from "../../database/database.ts";
import type { News } from "../../waiting/news.ts";
import type { FeedPosition } from "../tables/feed/feed.ts";
import type { PublisherState } from "../tables/feed/publication.ts";
import type { Origin } from "./body.ts";
import { type Dispatch, openDispatch } from "./dispatch.ts";
import { problemAt } from "./pace.ts";
import type { PublishingLog } from "./publishing-log.ts";
import type { PublishedEvent, Target } from "./target.ts";
import type { TargetSetting } from "./targets.ts";

/** Limits of the events that were read and have not ended. A process that takes over sends them again. */
const limits = { countMax: 1000, bytesMax: 4 * 2 ** 20 };

export interface Intervals {
  /** The first delay while the target takes nothing; it is doubled each time, up to five times as long. */
  awayDelayMs: number;
  /** The delay at the end of the feed. */
  idleDelayMs: number;
  /** How often due deliveries are read. */
  deferredEveryMs: number;
}

export interface SessionOptions {
  database: Database;
  target: Target;
  setting: TargetSetting;
  origin: Origin;
  log: PublishingLog;
  /** The name of this process as the owner of the publication. */
  owner: string;
  /** Where the publication is. */
  position: FeedPosition;
  /** The delays after the attempts for an event. */
  delaysMs: number[];
  intervals: Intervals;
  news: News;
  /** Gets when the events were accepted that the target has taken just now. */
  arrived: (acceptedAt: PublishedEvent["acceptedAt"][]) => void;
  /** Records the state of the session. */
  record(): Promise<void>;
}

/** The state of a process that owns a publication. `position` is the position in the database. */
export function openSession(options: SessionOptions) {
  const { target, delaysMs, intervals, position } = options;
  const { requestsAtATime, eventsAtATime } = target;
  const { awayDelayMs } = intervals;
  return {
    ...options,
    dispatch: openDispatch({ requestsAtATime, eventsAtATime, delaysMs, awayDelayMs, ...limits }),
    /** The position up to which the feed was read. */
    readTo: position,
    requests: new Set<Promise<void>>(),
    /** The problem in the database; undefined if this session has recorded none. */
    recordedProblem: undefined as string | null | undefined,
    /** When each step is done next, on the clock of `performance`. */
    next: { problem: 0, outcome: 0, due: 0 },
    /** When the end of the feed was read, on the clock of `performance`, if the last page had it. */
    endReadAt: Number.NEGATIVE_INFINITY,
    /** The number of pages that were begun since the last news. */
    looksSinceNews: Number.POSITIVE_INFINITY,
  };
}
export type Session = ReturnType<typeof openSession>;

/** The state of the publication, which its owner knows. */
export function stateOf({ dispatch }: Session): PublisherState {
  const now = performance.now();
  const { completeAt } = dispatch.window.reach;
  return {
    completeMs: completeAt === undefined ? null : now - completeAt,
    problem: problemIn(dispatch, now),
  };
}

/** A problem for an operator; null if there is none. */
export function problemIn({ pace }: Dispatch, now: number): string | null {
  const problem = problemAt(pace, now);
  if (!problem) return null;
  const { phase, reason } = problem;
  if (phase === "away") return `The target takes nothing: ${reason}`;
  if (phase === "in doubt") {
    const { event, delivery } = problem.suspect;
    return `The target has not taken event ${event.event_id} of ${delivery.key}: ${reason}`;
  }
  const resumeAt = new Date(performance.timeOrigin + problem.resumeAt);
  return `Limited by the target: nothing is sent before ${resumeAt.toISOString().slice(0, 19)}Z: ${reason}`;
}
