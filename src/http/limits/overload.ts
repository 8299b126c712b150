import { type Owner, shareOf } from "../../waiting/owner.ts";

/** More requests would only wait and take memory. */
const inFlightMax = 1000;

export type InFlight = ReturnType<typeof limitInFlight>;

/**
 * Counts the requests that are in handlers. Others get 503 immediately while there are too many, of all or of their caller. A
 * request counts until its handler has returned, so a long response that is being sent does not count.
 */
export function limitInFlight() {
  let inFlight = 0;
  const byCaller = new Map<Owner, number>();
  return {
    /** Counts a request, unless there are too many: then it returns false. */
    enter(caller: Owner): boolean {
      const own = byCaller.get(caller) ?? 0;
      if (inFlight >= inFlightMax || own >= shareOf(inFlightMax)) return false;
      inFlight += 1;
      byCaller.set(caller, own + 1);
      return true;
    },
    leave(caller: Owner): void {
      inFlight -= 1;
      const own = (byCaller.get(caller) as number) - 1;
      if (own === 0) byCaller.delete(caller);
      else byCaller.set(caller, own);
    },
  };
}
