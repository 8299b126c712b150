import type { Entry } from "./window.ts";

interface Limits {
  /** The maximum number of requests that are in flight. */
  requestsMax: number;
  /** The first delay, in milliseconds. It is doubled after each failure, up to five times as long. */
  delayMs: number;
}

/** A request to the target that is in flight. */
export interface Attempt {
  /** Its place in the order of the beginnings and the failures of all requests. */
  order: number;
  isProbe: boolean;
}

/** What may be sent: events of any resources, one event to see if the target is there, or a suspect. */
export type Turn =
  | { may: "send" }
  | { may: "probe"; suspect: Entry | undefined }
  | { may: "repeat"; suspect: Entry };

/** Why events wait, although no event was rejected. */
export type Problem =
  | { kind: "away"; reason: string }
  | { kind: "limited"; reason: string; resumeAt: number }
  | { kind: "suspect"; reason: string; entry: Entry };

/** An event whose attempt has failed, and nobody knows whose failure it is. */
interface Suspect {
  suspect: Entry;
  reason: string;
  failedAt: number;
  isInFlight: boolean;
  /** True if it was sent again, and has failed again. */
  isRepeated: boolean;
}

/**
 * Decides when a target gets requests, and whose failure it is if one does not say so.
 *
 * A target that limits its events gets none until it says, half as many requests at a time then, and one more after each
 * success. An event whose attempt fails without a reason of its own is a suspect. It has failed itself if a later request
 * with another event succeeds. Two suspects without that mean that the target is away: it gets one request at a time, and
 * the first success releases all suspects. So does a success after a single suspect was sent again. A released event that
 * fails once more has failed itself: without this rule, some that always fail would make the target away for ever.
 *
 * Times are milliseconds on the clock of the caller. Simultaneous events have an order of their own, which is that of the
 * calls.
 */
export function openPace({ requestsMax, delayMs }: Limits) {
  let order = 0;
  let inFlight = 0;
  let allowed = requestsMax;
  /** The pause that the target demands: since which request, and how many there were without another response between. */
  let pause = { until: Number.NEGATIVE_INFINITY, since: 0, inARow: 0, reason: "" };
  const suspects = new Map<string, Suspect>();
  let probe = { at: 0, failures: 0, isInFlight: false, isFirst: false, reason: "" };

  const delayAfter = (failures: number) => delayMs * Math.min(2 ** failures, 5);
  const isAway = () => suspects.size > 1;
  const waitingSuspect = () => [...suspects.values()].find((one) => !one.isInFlight)?.suspect;

  function turnAmongSuspects(now: number, hasReady: boolean): Turn | undefined {
    const suspect = waitingSuspect();
    const isDue = now >= probe.at;
    if (!isAway()) {
      if (suspect && isDue && inFlight < allowed) return { may: "repeat", suspect };
      return inFlight < allowed ? { may: "send" } : undefined;
    }
    if (probe.isInFlight) return undefined;
    if (hasReady && (isDue || probe.isFirst)) return { may: "probe", suspect: undefined };
    return suspect && isDue ? { may: "probe", suspect } : undefined;
  }

  return {
    /** What may be sent now. `hasReady` is true if there are events that are no suspects. */
    turn(now: number, hasReady: boolean): Turn | undefined {
      if (now < pause.until) return undefined;
      if (suspects.size > 0) return turnAmongSuspects(now, hasReady);
      return inFlight < allowed ? { may: "send" } : undefined;
    },

    /** When there can be a turn although nothing happens before; infinite if there is no such time. */
    nextTurnAt(now: number): number {
      if (now < pause.until) return pause.until;
      return suspects.size > 0 && !probe.isInFlight && now < probe.at ? probe.at : Number.POSITIVE_INFINITY;
    },

    /** Records that a request begins, of a turn with this suspect if there is one. */
    begin({ may }: Turn, suspect: Entry | undefined): Attempt {
      inFlight += 1;
      order += 1;
      const isProbe = may === "probe";
      if (isProbe) probe = { ...probe, isInFlight: true, isFirst: false };
      const known = suspect && suspects.get(suspect.delivery.key);
      if (known) known.isInFlight = true;
      return { order, isProbe };
    },

    /** Records that a request has ended, before what became of each of its events. */
    end({ isProbe }: Attempt): void {
      inFlight -= 1;
      if (isProbe) probe.isInFlight = false;
    },

    /**
     * Records that the target has taken an event. Returns the suspects that have failed themselves, and those of which nothing
     * is known, since the target was away.
     */
    succeed({ order: began, isProbe }: Attempt, { delivery: { key } }: Entry) {
      pause.inARow = 0;
      allowed = Math.min(allowed + 1, requestsMax);
      const wasAway = isAway();
      suspects.delete(key);
      const others = [...suspects.values()].filter(({ failedAt }) => failedAt < began);
      for (const { suspect } of others) suspects.delete(suspect.delivery.key);
      const isReleased = (one: Suspect) => one.isInFlight || one.isRepeated || (wasAway && isProbe);
      for (const other of others.filter(isReleased)) other.suspect.isReleased = true;
      const held = others.filter(({ isInFlight }) => !isInFlight);
      return { failed: held.filter((one) => !isReleased(one)), released: held.filter(isReleased) };
    },

    /** Records that the target demands a pause. Returns true if the event is a suspect and stays one. */
    limit(
      { order: began }: Attempt,
      { delivery: { key } }: Entry,
      now: number,
      reason: string,
      retryAfterMs?: number,
    ) {
      const suspect = suspects.get(key);
      if (suspect) suspect.isInFlight = false;
      // Of the requests that were in flight together, one counts.
      const isNew = began > pause.since;
      if (isNew) {
        order += 1;
        allowed = Math.max(1, Math.floor(allowed / 2));
      }
      const inARow = pause.inARow + (isNew ? 1 : 0);
      const least = inARow > 1 ? delayMs : 0;
      const demanded = Math.max(retryAfterMs ?? delayAfter(Math.max(inARow - 1, 0)), least);
      pause = {
        until: Math.max(pause.until, now + demanded),
        since: isNew ? order : pause.since,
        inARow,
        reason,
      };
      return suspect !== undefined;
    },

    /** Records that an attempt has failed without a reason of the event. It is a suspect then. */
    suspect({ isProbe }: Attempt, entry: Entry, now: number, reason: string): void {
      const { key } = entry.delivery;
      pause.inARow = 0;
      const wasAway = isAway();
      const isRepeated = suspects.delete(key);
      order += 1;
      suspects.set(key, { suspect: entry, reason, failedAt: order, isInFlight: false, isRepeated });
      const begins = isAway() ? !wasAway : !isRepeated;
      if (begins) probe = { at: now + delayMs, failures: 0, isInFlight: false, isFirst: true, reason };
      else if (isProbe || !wasAway) {
        const failures = probe.failures + 1;
        probe = { ...probe, at: now + delayAfter(failures), failures, reason };
      }
    },

    /** Records that the target rejects an event for a reason of the event. It says nothing of the target. */
    reject({ isProbe }: Attempt, { delivery: { key } }: Entry): void {
      pause.inARow = 0;
      suspects.delete(key);
      if (isProbe) probe.isFirst = true;
    },

    problem(now: number): Problem | undefined {
      if (now < pause.until || pause.inARow > 0)
        return { kind: "limited", reason: pause.reason, resumeAt: pause.until };
      if (isAway()) return { kind: "away", reason: probe.reason };
      const [suspect] = suspects.values();
      return suspect && { kind: "suspect", reason: suspect.reason, entry: suspect.suspect };
    },
  };
}
