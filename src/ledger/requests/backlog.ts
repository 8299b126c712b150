import type { Sql } from "../../database/database.ts";
import { shared } from "../../waiting/shared.ts";
import { withTimeout } from "../../waiting/with-timeout.ts";
import type { Queue } from "../queue/queue.ts";
import { countDeadLetters } from "../tables/dead-letter.ts";
import { publicationStates } from "../tables/feed/publication.ts";
import { logState } from "../tables/transparency.ts";

/** Limit for a value that is read for a request, in milliseconds. */
export const readMaxMs = 2000;
/** Counting stops here, since it must not take long. */
export const deadLettersMax = 10_000;

/** The messages that are not events yet. Requests at the same time share one read. */
export const openBacklog = (sql: Sql, queue: Queue) => ({
  /** Approximate number of messages in the queue. Rejects if it cannot be reached. */
  messagesWaiting: shared(() => queue.countWaiting()),
  /** Number of open dead letters, up to `deadLettersMax`. */
  openDeadLetters: shared(() => countDeadLetters(sql, deadLettersMax)),
});
export type Backlog = ReturnType<typeof openBacklog>;

/** The states of the targets of published events. Requests at the same time share one read. Rejects after two seconds. */
export function openPublications(sql: Sql, targets: string[]) {
  const read = shared(() => publicationStates(sql, targets));
  return () => withTimeout(read(), readMaxMs, new Error("timeout"));
}
export type Publications = ReturnType<typeof openPublications>;

/** The state of the transparency log. Requests at the same time share one read. Rejects after two seconds. */
export function openLogState(sql: Sql, problem: () => string | undefined) {
  const read = shared(() => logState(sql));
  return async () => {
    const state = await withTimeout(read(), readMaxMs, new Error("timeout"));
    return { ...state, problem: problem() };
  };
}
export type ReadLogState = ReturnType<typeof openLogState>;
