import { isBusy, isFull } from "./database.ts";
import type { Messages } from "./messages.ts";
import { unavailable } from "./protocol/sqs-error.ts";

/** Changes messages and resolves when the changes are on the disk. Rejects with an `SqsError` that clients retry. */
export type Commit = <Result>(work: () => Result) => Promise<Result>;

interface Job extends PromiseWithResolvers<unknown> {
  work: () => unknown;
  since: number;
}

export const diskIsFull = "The disk of the queue is full.";

/** How long changes wait while another process writes, in milliseconds. */
const waitMaxMs = 10_000;
const retryMs = 2;
/** Changes of one transaction. More follow in the next. */
const jobsMax = 200;

/**
 * Commits the changes of requests that arrive together in one transaction, since each commit waits for the disk. If one of
 * them fails, each has its own.
 */
export function openCommits(messages: Messages): Commit {
  let waiting: Job[] = [];
  let isScheduled = false;

  function schedule(delay: (next: () => void) => unknown): void {
    if (isScheduled || waiting.length === 0) return;
    isScheduled = true;
    delay(flush);
  }

  function flush(): void {
    isScheduled = false;
    commit(waiting.splice(0, jobsMax));
    schedule(setImmediate);
  }

  function commit(jobs: Job[]): void {
    try {
      const results = messages.transaction(() => jobs.map(({ work }) => work()));
      for (const [index, { resolve }] of jobs.entries()) resolve(results[index]);
    } catch (error) {
      if (isBusy(error)) waitFor(jobs);
      else if (jobs.length === 1) jobs[0]?.reject(toSqsError(error));
      else for (const job of jobs) commit([job]);
    }
  }

  /** The jobs stay the first. Those that have waited too long fail. */
  function waitFor(jobs: Job[]): void {
    const since = performance.now() - waitMaxMs;
    const { late = [], others = [] } = Object.groupBy(jobs, (job) => (job.since < since ? "late" : "others"));
    for (const { reject } of late) reject(unavailable("Another process has been writing for too long."));
    waiting = [...others, ...waiting];
    schedule((next) => setTimeout(next, retryMs));
  }

  return <Result>(work: () => Result) => {
    const job = { ...Promise.withResolvers<unknown>(), work, since: performance.now() };
    waiting.push(job);
    schedule(setImmediate);
    return job.promise as Promise<Result>;
  };
}

/** Its texts do not quote data. */
const toSqsError = (error: unknown) =>
  unavailable(isFull(error) ? diskIsFull : `The messages cannot be written: ${(error as Error).message}.`);
