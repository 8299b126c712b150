import { unavailable } from "./http-error.ts";
import type { AnyHandler } from "./response.ts";

/** More requests would only wait and take memory. */
const inFlightMax = 1000;

/**
 * Limits how many requests are in flight in all handlers together; others get 503 immediately. A request counts until its
 * handler has returned, so a long response that is being sent does not count.
 */
export function limitInFlight(): (handler: AnyHandler) => AnyHandler {
  let inFlight = 0;
  return (handler) => async (request) => {
    if (inFlight >= inFlightMax) {
      throw unavailable("the service is overloaded: too many requests are in flight; try again later");
    }
    inFlight += 1;
    try {
      return await handler(request);
    } finally {
      inFlight -= 1;
    }
  };
}
