/** More requests would only wait and take memory. */
const inFlightMax = 1000;

/** Counts the requests that are in handlers. Others get 503 immediately while there are too many. */
export interface InFlight {
  /** Counts a request, unless there are too many: then it returns false. */
  enter(): boolean;
  leave(): void;
}

/** A request counts until its handler has returned, so a long response that is being sent does not count. */
export function limitInFlight(): InFlight {
  let inFlight = 0;
  return {
    enter() {
      if (inFlight >= inFlightMax) return false;
      inFlight += 1;
      return true;
    },
    leave() {
      inFlight -= 1;
    },
  };
}
