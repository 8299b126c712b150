import { type Batch, nextBatch, settleBatch } from "./dispatch.ts";
import { nextTurnAt, problemAt } from "./pace.ts";
import type { Session } from "./session.ts";
import { recordOutcome, steps } from "./session-steps.ts";
import { hasOutcome } from "./window.ts";

/**
 * Publishes until `stop` aborts: sends events while others are in flight, and does the steps meanwhile, which wait only for
 * each other. What the target has taken until then is recorded. Rejects with `PublicationLost`.
 */
export async function runSession(session: Session, stop: AbortSignal): Promise<void> {
  const { dispatch, requests } = session;
  const bell = openBell();
  const end = new AbortController();
  let error: unknown;

  /** Begins all requests that may begin now. */
  function sendReady(): void {
    while (!end.signal.aborted) {
      const batch = nextBatch(dispatch, performance.now());
      if (!batch) return;
      const request = send(session, batch, end.signal)
        .then(() => {
          requests.delete(request);
          sendReady();
          bell.ring();
        })
        .catch((err) => {
          error ??= err;
          bell.ring();
        });
      requests.add(request);
    }
  }

  const abort = () => {
    end.abort();
    bell.ring();
  };
  const hear = () => {
    session.looksSinceNews = 0;
    bell.ring();
  };
  session.news.on("news", hear);
  stop.addEventListener("abort", abort, { once: true });
  try {
    while (!stop.aborted && error === undefined) {
      sendReady();
      const now = performance.now();
      const step = steps.find(({ dueAt }) => dueAt(session, now) <= now);
      if (step) await step.run(session, now);
      else {
        const nextAt = Math.min(
          nextTurnAt(dispatch.pace, now),
          ...steps.map(({ dueAt }) => dueAt(session, now)),
        );
        await bell.untilRung(nextAt - now);
      }
    }
  } finally {
    session.news.off("news", hear);
    // Nothing may be in flight when another session begins: it would send later events of the same resource.
    end.abort();
    await Promise.all(requests);
  }
  if (error !== undefined) throw error;
  if (hasOutcome(dispatch.window)) await recordOutcome(session);
}

async function send(
  { target, dispatch, log, arrived }: Session,
  { entries, attempt }: Batch,
  end: AbortSignal,
) {
  const deliveries = entries.map(({ delivery }) => delivery);
  const failures = await target.send(deliveries, end);
  const now = performance.now();
  if (failures.includes(undefined)) log.taken();
  arrived(deliveries.flatMap(({ acceptedAt }, index) => (failures[index] ? [] : acceptedAt)));
  if (end.aborted) {
    // Attempts that were aborted say nothing.
    const taken = entries.filter((_, index) => failures[index] === undefined);
    settleBatch(dispatch, { entries: taken, attempt }, [], now);
  } else {
    settleBatch(dispatch, { entries, attempt }, failures, now);
    log.problem(problemAt(dispatch.pace, now));
  }
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
