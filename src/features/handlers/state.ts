import { setTimeout as sleep } from "node:timers/promises";
import { unavailable } from "../../http/http-error.ts";
import { epochMillisecondsOf } from "../../values/instant.ts";
import { sharedNext } from "../../waiting/shared.ts";
import { errorLine } from "../requests/errors.ts";
import { instantOf } from "../requests/expiry.ts";
import { type Entry, type FeatureStore, StoreFailure } from "../store/store.ts";

/** The features of resources, now or at an instant. The members are those of `FeatureStore`. */
interface State {
  list(resource: string, id: string): Promise<Entry[]>;
  has(resource: string, id: string, features: string[]): Promise<boolean[]>;
  /** Also resolves with the id after which the next page begins; undefined if there are no more. */
  idsWith(
    resource: string,
    feature: string,
    after: string | undefined,
    limit: number,
  ): Promise<{ ids: string[]; next: string | undefined }>;
}

/**
 * Returns a function that resolves with the state at `as_of`, now by default, or with the error response. What it shows stays:
 * it waits for the changes that can still get the instant. Rejects with 503 if that takes too long.
 */
export function statesOf(store: FeatureStore) {
  const settle = settlerOf(store);
  const present: State = {
    list: store.list,
    has: store.has,
    async idsWith(resource, feature, after, limit) {
      const ids = await store.idsWith(resource, feature, after, limit);
      return { ids, next: ids.length === limit ? ids.at(-1) : undefined };
    },
  };
  return async (as_of: string | undefined): Promise<State | ReturnType<typeof errorLine<400>>> => {
    if (as_of === undefined) return present;
    const { history } = store;
    if (!history) return errorLine(400, noHistory);
    const at = epochMillisecondsOf(as_of);
    if (at > Date.now()) return errorLine(400, "query parameter as_of must not be in the future");
    await settle(at);
    return {
      list: (resource, id) => history.list(resource, id, at),
      has: (resource, id, features) => history.has(resource, id, features, at),
      idsWith: (resource, feature, after, limit) => history.idsWith(resource, feature, at, after, limit),
    };
  };
}

/** A clock that is further behind that of this process is not awaited, in milliseconds. */
const aheadMaxMs = 1000;

/** Returns a function that resolves when the states up to an instant are final. */
function settlerOf(store: FeatureStore): (at: number) => Promise<void> {
  /** They are known to be final up to this instant. */
  let final = 0;
  const update = sharedNext(async () => {
    final = Math.max(final, (await store.history?.settled()) ?? 0);
  });

  return async (at) => {
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
  };
}

const noHistory =
  "query parameter as_of is not possible: this service does not keep its history " +
  "(the URL of its store needs keep=all)";
