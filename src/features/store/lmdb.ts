import { open as openEnvironment } from "lmdb";
import { inTime } from "../../service/in-time.ts";
import { type OrderedMap, openOrderedStore } from "./ordered-store.ts";
import { changesKept, type FeatureStore, StoreFailure } from "./store.ts";

const closeMaxMs = 1000;

/** In a folder of this machine, which several processes can share. What is answered is on the disk. */
export async function open(url: URL): Promise<FeatureStore> {
  const map = orderedMap(decodeURIComponent(url.pathname));
  try {
    return await openOrderedStore(map, changesKept(url));
  } catch (error) {
    await map[Symbol.asyncDispose]();
    throw error;
  }
}

function orderedMap(folder: string): OrderedMap {
  const environment = orFailure(() =>
    // Batching by turns of the event loop would leave a promise of its own behind that nobody hears fail.
    openEnvironment<unknown, string>({ path: folder, noSubdir: false, eventTurnBatching: false }),
  );
  return {
    read: (work) =>
      orFailure(() => {
        // The library goes on with the snapshot of a read before for a turn of the event loop, and others write meanwhile.
        environment.resetReadTxn();
        return work();
      }),
    get: (key) => environment.get(key) as never,
    *range(start, end) {
      for (const { value } of environment.getRange({ start, end })) yield value as never;
    },
    write: async (work) => orFailure(() => environment.transaction(work)).catch(failCommit),
    put: (key, value) => void environment.put(key, value),
    remove: (key) => void environment.remove(key),
    // After a commit that failed, the library would wait for it without end.
    [Symbol.asyncDispose]: () => inTime(environment.close(), closeMaxMs, new Error()).catch(() => {}),
  };
}

function orFailure<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    return fail(error as Error);
  }
}

/** The cause of a commit that failed comes with it, as a promise that rejects. */
const failCommit = (error: Error & { commitError?: Promise<never> }): Promise<never> =>
  (error.commitError ?? Promise.reject(error)).catch(fail);

const fail = (error: Error): never => {
  throw new StoreFailure(`the store failed: ${error.message}`, { cause: error });
};
