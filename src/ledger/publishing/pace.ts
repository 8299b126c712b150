import type { Entry } from "./order.ts";
import type { Failure } from "./target.ts";

/** A request that may be sent now: with the event of this suspect, or with events that are no suspects. */
export interface Turn {
  /** True if the request has only one event, to see if the target is there. */
  isProbe: boolean;
  suspect: Entry | undefined;
}

/** A request to the target that is in flight. */
export interface Attempt {
  /** Its place in the order of the beginnings and the failures of all requests. */
  order: number;
  isProbe: boolean;
}

/** Why events wait, although no event was rejected. */
export type Problem =
  | { phase: "away"; reason: string }
  | { phase: "limited"; reason: string; resumeAt: number }
  | { phase: "in doubt"; reason: string; suspect: Entry };

/** An event whose attempt has failed, and nobody knows whose failure it is. */
interface Suspect {
  entry: Entry;
  reason: string;
  failedAt: number;
  isInFlight: boolean;
  /** True if it was sent again, and has failed again. */
  isRepeated: boolean;
}

/**
 * Decides when a target gets requests, and whose failure it is if the target does not say so.
 *
 * A target that limits its events gets none until it says, half as many requests at a time then, and one more after each
 * success. An event whose attempt fails without a reason of its own is a suspect. It has failed itself if a later request
 * with another event succeeds. Two suspects without that mean that the target is away: it gets one request at a time, and
 * the first success releases all suspects. So does a success after a single suspect was sent again. A released event that
 * fails once more has failed itself: without this rule, some that always fail would make the target away for ever.
 *
 * Times are milliseconds on the clock of the caller. Simultaneous events have an order of their own, the order of the calls.
 */
export const openPace = (requestsMax: number, delayMs: number) => ({
  /** The maximum number of requests that are in flight. */
  requestsMax,
  /** The first delay, in milliseconds. It is doubled after each failure, up to five times as long. */
  delayMs,
  order: 0,
  inFlight: 0,
  /** The number of requests that may be in flight now. */
  allowed: requestsMax,
  /** The pause that the target demands: since which request, and how many there were without another response between. */
  pause: { until: Number.NEGATIVE_INFINITY, since: 0, inARow: 0, reason: "" },
  suspects: new Map<string, Suspect>(),
  /** When a suspect is sent again, or one event to a target that is away. The first such event does not wait. */
  probe: { at: 0, failures: 0, isInFlight: false, isFirst: false, reason: "" },
});
export type Pace = ReturnType<typeof openPace>;

/** The phase of a target while it demands no pause. In doubt, it has one suspect, and other events are sent. */
function phaseOf({ suspects }: Pace): "open" | "in doubt" | "away" {
  if (suspects.size === 0) return "open";
  return suspects.size === 1 ? "in doubt" : "away";
}

const delayAfter = ({ delayMs }: Pace, failures: number) => delayMs * Math.min(2 ** failures, 5);

/** The request that may be sent now. `hasReady` is true if there are events that are no suspects. */
export function turnAt(pace: Pace, now: number, hasReady: boolean): Turn | undefined {
  const { pause, probe, inFlight, allowed } = pace;
  if (now < pause.until) return undefined;
  const isDue = now >= probe.at;
  const suspect = isDue ? pace.suspects.values().find((one) => !one.isInFlight)?.entry : undefined;
  if (phaseOf(pace) !== "away") return inFlight < allowed ? { isProbe: false, suspect } : undefined;
  if (probe.isInFlight) return undefined;
  if (hasReady && (isDue || probe.isFirst)) return { isProbe: true, suspect: undefined };
  return suspect && { isProbe: true, suspect };
}

/** When there can be a turn although nothing happens before; infinite if there is no such time. */
export function nextTurnAt({ pause, probe, suspects }: Pace, now: number): number {
  if (now < pause.until) return pause.until;
  return suspects.size > 0 && !probe.isInFlight && now < probe.at ? probe.at : Number.POSITIVE_INFINITY;
}

/** Records that the request of a turn begins. */
export function beginAttempt(pace: Pace, { isProbe, suspect }: Turn): Attempt {
  pace.inFlight += 1;
  pace.order += 1;
  if (isProbe) Object.assign(pace.probe, { isInFlight: true, isFirst: false });
  const known = suspect && pace.suspects.get(suspect.delivery.key);
  if (known) known.isInFlight = true;
  return { order: pace.order, isProbe };
}

/** Records that a request has ended, before what became of each of its events. */
export function endAttempt(pace: Pace, { isProbe }: Attempt): void {
  pace.inFlight -= 1;
  if (isProbe) pace.probe.isInFlight = false;
}

/**
 * Records that the target has taken an event. Returns the suspects that have failed themselves, and the suspects of which
 * nothing is known, since the target was away.
 */
export function recordSuccess(pace: Pace, { order: began, isProbe }: Attempt, { delivery }: Entry) {
  const { suspects } = pace;
  pace.pause.inARow = 0;
  pace.allowed = Math.min(pace.allowed + 1, pace.requestsMax);
  const wasAway = phaseOf(pace) === "away";
  suspects.delete(delivery.key);
  const others = [...suspects.values()].filter(({ failedAt }) => failedAt < began);
  for (const { entry } of others) suspects.delete(entry.delivery.key);
  const isReleased = (one: Suspect) => one.isInFlight || one.isRepeated || (wasAway && isProbe);
  for (const other of others.filter(isReleased)) other.entry.isReleased = true;
  const held = others.filter(({ isInFlight }) => !isInFlight);
  return { failed: held.filter((one) => !isReleased(one)), released: held.filter(isReleased) };
}

/** Records that the target demands a pause. Returns true if the event is a suspect and stays one. */
export function recordLimit(
  pace: Pace,
  { order: began }: Attempt,
  { delivery }: Entry,
  { reason, retryAfterMs }: Failure,
  now: number,
): boolean {
  const { pause } = pace;
  const suspect = pace.suspects.get(delivery.key);
  if (suspect) suspect.isInFlight = false;
  // Of the requests that were in flight together, one counts.
  if (began > pause.since) {
    pace.order += 1;
    pace.allowed = Math.max(1, Math.floor(pace.allowed / 2));
    pause.since = pace.order;
    pause.inARow += 1;
  }
  const least = pause.inARow > 1 ? pace.delayMs : 0;
  const demanded = Math.max(retryAfterMs ?? delayAfter(pace, Math.max(pause.inARow - 1, 0)), least);
  pause.until = Math.max(pause.until, now + demanded);
  pause.reason = reason;
  return suspect !== undefined;
}

/** Records that an attempt has failed for an unknown cause. Its event is a suspect then. */
export function recordSuspect(
  pace: Pace,
  { isProbe }: Attempt,
  entry: Entry,
  { reason }: Failure,
  now: number,
): void {
  const { suspects, probe, delayMs } = pace;
  const { key } = entry.delivery;
  pace.pause.inARow = 0;
  const wasAway = phaseOf(pace) === "away";
  const isRepeated = suspects.delete(key);
  pace.order += 1;
  suspects.set(key, { entry, reason, failedAt: pace.order, isInFlight: false, isRepeated });
  const begins = phaseOf(pace) === "away" ? !wasAway : !isRepeated;
  if (begins) pace.probe = { at: now + delayMs, failures: 0, isInFlight: false, isFirst: true, reason };
  else if (isProbe || !wasAway) {
    const failures = probe.failures + 1;
    Object.assign(probe, { at: now + delayAfter(pace, failures), failures, reason });
  }
}

/** Records that the target rejects an event for a reason of the event. The target itself is there. */
export function recordRejection(pace: Pace, { isProbe }: Attempt, { delivery }: Entry): void {
  pace.pause.inARow = 0;
  pace.suspects.delete(delivery.key);
  if (isProbe) pace.probe.isFirst = true;
}

/** Why events wait that were not rejected; undefined if none do. A target is limited until it takes an event again. */
export function problemAt(pace: Pace, now: number): Problem | undefined {
  const { pause, probe, suspects } = pace;
  if (now < pause.until || pause.inARow > 0)
    return { phase: "limited", reason: pause.reason, resumeAt: pause.until };
  const phase = phaseOf(pace);
  if (phase === "away") return { phase, reason: probe.reason };
  const [suspect] = suspects.values();
  return suspect && { phase: "in doubt", reason: suspect.reason, suspect: suspect.entry };
}
