import { type Owner, shareOf } from "../../waiting/owner.ts";

/** More requests would only wait and take memory. */
const inFlightMax = 1000;

/** Counts the requests that are in handlers. Others get 503 immediately while there are too many, of all or of their caller. */
export interface InFlight {
  /** Counts a request, unless there are too many: then it returns false. */
  enter(caller: Owner): boolean;
  leave(caller: Owner): void;
}

/** A request counts until its handler has returned, so a long response that is being sent does not count. */
export function limitInFlight(): InFlight {
  let inFlight = 0;
  const byCaller = new Map<Owner, number>();
  return {
    enter(caller) {
      const own = byCaller.get(caller) ?? 0;
      if (inFlight >= inFlightMax || own >= shareOf(inFlightMax)) return false;
      inFlight += 1;
      byCaller.set(caller, own + 1);
      return true;
    },
    leave(caller) {
      inFlight -= 1;
      const own = (byCaller.get(caller) as number) - 1;
      if (own === 0) byCaller.delete(caller);
      else byCaller.set(caller, own);
    },
  };
}
