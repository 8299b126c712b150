import type { Sql } from "../../database/database.ts";
import { shared } from "../../waiting/shared.ts";
import type { Queue } from "../queue/queue.ts";
import { countDeadLetters } from "../tables/dead-letter.ts";

/** Limit for a value that is read for a request, in milliseconds. */
export const readMaxMs = 2000;
/** Counting stops here, since it must not take long. */
export const deadLettersMax = 10_000;

/** The messages that are not events yet. Requests at the same time share one read. */
export interface Backlog {
  /** Approximate number of messages in the queue. Rejects if it cannot be reached. */
  messagesWaiting(): Promise<number>;
  /** Number of open dead letters, up to `deadLettersMax`. */
  openDeadLetters(): Promise<number>;
}

export const openBacklog = (sql: Sql, queue: Queue): Backlog => ({
  messagesWaiting: shared(() => queue.countWaiting()),
  openDeadLetters: shared(() => countDeadLetters(sql, deadLettersMax)),
});
