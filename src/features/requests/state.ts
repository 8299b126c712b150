import { setTimeout as sleep } from "node:timers/promises";
import { type Failure, failure, parameterFault } from "../../http/failure.ts";
import { unavailable } from "../../http/http-error.ts";
import { epochMillisecondsOf } from "../../values/instant.ts";
import { sharedNext } from "../../waiting/shared.ts";
import { type FeatureStore, type State, StoreFailure } from "../store/store.ts";
import { instantOf } from "./expiry.ts";

export type StateAt = ReturnType<typeof statesOf>;

/** A clock that is further behind the clock of this process is not awaited, in milliseconds. */
const aheadMaxMs = 1000;

const noHistory = parameterFault(
  "as_of",
  { keep: "all" },
  "query parameter as_of is not possible: this service does not keep its history (the URL of its store needs keep=all)",
);
const inFuture = parameterFault(
  "as_of",
  { maximum: "now" },
  "query parameter as_of must not be in the future",
);

/**
 * Returns a function that resolves with the state at `as_of`, now by default, or with the error response. The state stays
 * as it is: the function waits for the changes that can still get the instant. Rejects with 503 if that takes too long.
 */
export function statesOf(store: State & Pick<FeatureStore, "history">) {
  const present: State = { list: store.list, has: store.has, idsWith: store.idsWith };
  /** The states up to this instant are known to be final. */
  let final = 0;
  const update = sharedNext(async () => {
    final = Math.max(final, (await store.history?.settled()) ?? 0);
  });

  /** Resolves when the states up to an instant are final. */
  async function settle(at: number): Promise<void> {
    if (at <= final) return;
    const begunAt = performance.now();
    try {
      await update();
      while (at > final && performance.now() < begunAt + aheadMaxMs) {
        await sleep(Math.min(at - final, aheadMaxMs));
        await update();
      }
    } catch (error) {
      if (!(error instanceof StoreFailure) || final === 0) throw error;
    }
    if (at <= final) return;
    throw unavailable(
      `the state at this instant can still change; that at as_of=${instantOf(final)}, and earlier ones, cannot`,
    );
  }

  return async (as_of: string | undefined): Promise<State | Failure<400>> => {
    if (as_of === undefined) return present;
    const { history } = store;
    if (!history) return failure(400, noHistory);
    const at = epochMillisecondsOf(as_of);
    if (at > Date.now()) return failure(400, inFuture);
    await settle(at);
    return history.at(at);
  };
}
