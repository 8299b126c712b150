import { setTimeout as sleep } from "node:timers/promises";

interface Retry {
  /** How long attempts are repeated, in milliseconds. */
  forMs: number;
  /** True if a later attempt may succeed after this error. Default: always. */
  mayPass?: (error: unknown) => boolean;
  /** Called with the error of an attempt that is repeated. */
  onRetry?: (error: Error, isFirst: boolean) => void;
  /** The delay between two attempts, in milliseconds. Default: 100. */
  everyMs?: number;
}

/** Repeats an attempt until it succeeds. Rejects with its last error. */
export async function retry<Result>(
  attempt: () => Promise<Result>,
  { forMs, mayPass = () => true, onRetry = () => {}, everyMs = 100 }: Retry,
): Promise<Result> {
  const giveUpAt = Date.now() + forMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await attempt();
    } catch (error) {
      if (!mayPass(error) || Date.now() > giveUpAt) throw error;
      onRetry(error as Error, isFirst);
      await sleep(everyMs);
    }
  }
}
