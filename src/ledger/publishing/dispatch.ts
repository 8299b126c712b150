import { type Entry, putBack, takeReady } from "./order.ts";
import {
  type Attempt,
  beginAttempt,
  endAttempt,
  openPace,
  recordLimit,
  recordRejection,
  recordSuccess,
  recordSuspect,
  turnAt,
} from "./pace.ts";
import type { Failure } from "./target.ts";
import { confirm, defer, endAsDeadLetter, openWindow } from "./window.ts";

interface DispatchLimits {
  /** The maximum numbers of requests that are in flight, and of events in one. */
  requestsAtATime: number;
  eventsAtATime: number;
  /** The delays after the attempts for an event. After the last attempt, which has none, it becomes a dead letter. */
  delaysMs: number[];
  /** The first delay for a target that takes nothing. */
  awayDelayMs: number;
  /** The limits of the window. */
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
 * counted, or a dead letter. No function of a dispatch, its window or its pace performs I/O; times are milliseconds on the
 * clock of the caller.
 */
export const openDispatch = ({
  requestsAtATime,
  awayDelayMs,
  countMax,
  bytesMax,
  ...limits
}: DispatchLimits) => ({
  window: openWindow(countMax, bytesMax),
  pace: openPace(requestsAtATime, awayDelayMs),
  ...limits,
});
export type Dispatch = ReturnType<typeof openDispatch>;

/** The events of the next request, which begins now; undefined if there is none now. */
export function nextBatch({ window, pace, eventsAtATime }: Dispatch, now: number): Batch | undefined {
  const { order } = window;
  const turn = turnAt(pace, now, order.ready.size > 0);
  if (!turn) return undefined;
  const entries = turn.suspect ? [turn.suspect] : takeReady(order, turn.isProbe ? 1 : eventsAtATime);
  return entries.length > 0 ? { entries, attempt: beginAttempt(pace, turn) } : undefined;
}

/** Records the failure of each event of a request that has ended; undefined if the target has taken it. */
export function settleBatch(
  dispatch: Dispatch,
  { entries, attempt }: Batch,
  failures: (Failure | undefined)[],
  now: number,
): void {
  endAttempt(dispatch.pace, attempt);
  for (const [index, entry] of entries.entries()) {
    const failure = failures[index];
    if (failure) fail(dispatch, entry, attempt, failure, now);
    else succeed(dispatch, entry, attempt);
  }
}

function succeed(dispatch: Dispatch, entry: Entry, attempt: Attempt): void {
  const { window, pace } = dispatch;
  const { failed, released } = recordSuccess(pace, attempt, entry);
  confirm(window, entry);
  for (const suspect of failed) countAttempt(dispatch, suspect.entry, suspect.reason);
  for (const suspect of released) putBack(window.order, suspect.entry);
}

function fail(dispatch: Dispatch, entry: Entry, attempt: Attempt, failure: Failure, now: number): void {
  const { window, pace } = dispatch;
  const { cause, reason } = failure;
  if (cause === "target") {
    const isSuspect = recordLimit(pace, attempt, entry, failure, now);
    if (!isSuspect) putBack(window.order, entry);
  } else if (cause === "event" || entry.isReleased) {
    recordRejection(pace, attempt, entry);
    countAttempt(dispatch, entry, reason);
  } else {
    recordSuspect(pace, attempt, entry, failure, now);
  }
}

/** The attempt for an event counts. */
function countAttempt({ window, delaysMs }: Dispatch, entry: Entry, reason: string): void {
  entry.attempts += 1;
  const delayMs = delaysMs[entry.attempts - 1];
  if (delayMs === undefined) endAsDeadLetter(window, entry, reason);
  else defer(window, entry, delayMs, reason);
}
