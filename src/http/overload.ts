import { unavailable } from "./http-error.ts";
import type { AnyHandler } from "./reply.ts";

/** More would only wait, and take memory: what they ask for is not done faster for it. */
const inHandMax = 1000;

/**
 * Bounds how many requests are with handlers at a time, together: each until its handler has returned, so that a long
 * reply, which is sent after that, does not count. Beyond the bound a request is refused at once.
 */
export function boundInHand(): (handler: AnyHandler) => AnyHandler {
  let inHand = 0;
  return (handler) => async (request) => {
    if (inHand >= inHandMax) {
      throw unavailable("the service has too many requests in hand; trying again later may help");
    }
    inHand += 1;
    try {
      return await handler(request);
    } finally {
      inHand -= 1;
    }
  };
}
