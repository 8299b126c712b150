import { ConnectionError } from "./errors.ts";
import type { ResponseError } from "./response-error.ts";

/** Statuses of a service, or of a proxy before it, that may be gone at the next attempt. */
const transientStatuses = [429, 502, 503, 504];

const firstDelayMs = 100;
const delayMaxMs = 5_000;
/** A service that asks for a longer delay is not tried again. */
const retryAfterMaxMs = 60_000;

/**
 * A delay in milliseconds before a retry, which is counted from 1. It doubles from 100 ms to 5 s, half of it random so that
 * callers do not return together.
 */
export const backoffMs = (retry: number): number =>
  Math.min(firstDelayMs * 2 ** (retry - 1), delayMaxMs) * (0.5 + Math.random() / 2);

/**
 * The delay in milliseconds before the next attempt after a transient error, undefined if the error is permanent. It is
 * that of `backoffMs`, after the time of `Retry-After`.
 */
export function retryDelayMs(error: ResponseError | ConnectionError, retry: number): number | undefined {
  const delayMs = backoffMs(retry);
  if (error instanceof ConnectionError) return delayMs;
  if (!transientStatuses.includes(error.status)) return undefined;
  const waitMs = retryAfterMs(error.headers.get("retry-after"), Date.now());
  return waitMs > retryAfterMaxMs ? undefined : waitMs + delayMs;
}

/** The milliseconds of a `Retry-After`, which is a number of seconds or an HTTP date. 0 if it is neither. */
function retryAfterMs(value: string | null, now: number): number {
  if (value === null) return 0;
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Math.max(waitMs || 0, 0);
}
