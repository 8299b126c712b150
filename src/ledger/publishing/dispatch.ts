import { type Attempt, openPace, type Problem } from "./pace.ts";
import type { Failure } from "./target.ts";
import { type Entry, openWindow } from "./window.ts";

interface Limits {
  /** The numbers of requests that are in flight, and of events in one, at most. */
  requestsAtATime: number;
  eventsAtATime: number;
  /** The delays after the attempts for an event. After the last attempt, which has none, it becomes a dead letter. */
  delaysMs: number[];
  /** The first delay for a target that takes nothing. */
  awayDelayMs: number;
  /** Limits of the window. */
  countMax: number;
  bytesMax: number;
}

/** Events that are sent together, no two of the same resource. */
export interface Batch {
  entries: Entry[];
  attempt: Attempt;
}

/**
 * Decides which events are sent next, and what becomes of each: it is confirmed, sent again, deferred with an attempt
 * counted, or a dead letter. It performs no I/O; times are milliseconds on the clock of the caller.
 */
export function openDispatch({
  requestsAtATime,
  eventsAtATime,
  delaysMs,
  awayDelayMs,
  countMax,
  bytesMax,
}: Limits) {
  const window = openWindow({ countMax, bytesMax });
  const pace = openPace({ requestsMax: requestsAtATime, delayMs: awayDelayMs });

  /** The attempt for an event counts. */
  function countAttempt(entry: Entry, reason: string): void {
    entry.attempts += 1;
    const delayMs = delaysMs[entry.attempts - 1];
    if (delayMs === undefined) window.endAsDeadLetter(entry, reason);
    else window.defer(entry, delayMs, reason);
  }

  function succeed(entry: Entry, attempt: Attempt): void {
    const { failed, released } = pace.succeed(attempt, entry);
    window.confirm(entry);
    for (const { suspect, reason } of failed) countAttempt(suspect, reason);
    for (const { suspect } of released) window.putBack(suspect);
  }

  function fail(
    entry: Entry,
    attempt: Attempt,
    { subject, reason, retryAfterMs }: Failure,
    now: number,
  ): void {
    if (subject === "target") {
      const isSuspect = pace.limit(attempt, entry, now, reason, retryAfterMs);
      if (!isSuspect) window.putBack(entry);
    } else if (subject === "event" || entry.isReleased) {
      pace.reject(attempt, entry);
      countAttempt(entry, reason);
    } else {
      pace.suspect(attempt, entry, now, reason);
    }
  }

  return {
    window,

    /** The events of the next request, which begins now; undefined if there is none now. */
    next(now: number): Batch | undefined {
      const turn = pace.turn(now, window.readyCount() > 0);
      if (!turn) return undefined;
      const suspect = turn.may === "send" ? undefined : turn.suspect;
      const max = turn.may === "send" ? eventsAtATime : 1;
      const entries = suspect ? [suspect] : window.takeReady(max);
      return entries.length > 0 ? { entries, attempt: pace.begin(turn, suspect) } : undefined;
    },

    /** When there can be a next request although none in flight ends and no events come; infinite if there is no such time. */
    nextAt: pace.nextTurnAt,

    /** Records the failure of each event of a request that has ended; undefined if the target has taken it. */
    settle({ entries, attempt }: Batch, failures: (Failure | undefined)[], now: number): void {
      pace.end(attempt);
      for (const [index, entry] of entries.entries()) {
        const failure = failures[index];
        if (failure) fail(entry, attempt, failure, now);
        else succeed(entry, attempt);
      }
    },

    /** Why events wait that were not rejected; undefined if none do. */
    problem: (now: number): Problem | undefined => pace.problem(now),
  };
}

export type Dispatch = ReturnType<typeof openDispatch>;
