import { setTimeout as sleep } from "node:timers/promises";

const everyMs = 100;

interface Retry {
  /** How long attempts are repeated, in milliseconds. */
  forMs: number;
  /** True if a later attempt may succeed after this error. Default: always. */
  mayPass?: (error: unknown) => boolean;
  /** Called once, with the error of the first attempt, if it is repeated. */
  onFirst?: (error: Error) => void;
}

/** Repeats an attempt every 100 ms until it succeeds. Rejects with its last error. */
export async function retry<Result>(
  attempt: () => Promise<Result>,
  { forMs, mayPass = () => true, onFirst = () => {} }: Retry,
): Promise<Result> {
  const giveUpAt = Date.now() + forMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await attempt();
    } catch (error) {
      if (!mayPass(error) || Date.now() > giveUpAt) throw error;
      if (isFirst) onFirst(error as Error);
      await sleep(everyMs);
    }
  }
}
