import { open as openEnvironment } from "lmdb";
import { type OrderedMap, openOrderedStore } from "./ordered-store.ts";
import { changesKept, type FeatureStore, StoreFailure } from "./store.ts";

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
  const environment = orFailure(() => openEnvironment<unknown, string>({ path: folder, noSubdir: false }));
  // A process that was killed may have left a mark that keeps pages from being used again.
  environment.readerCheck();
  return {
    get: (key) => orFailure(() => environment.get(key)) as never,
    *range(start, end) {
      for (const { value } of orFailure(() => environment.getRange({ start, end }))) yield value as never;
    },
    write: (work) => environment.transaction(work).catch(fail),
    put: (key, value) => void environment.put(key, value),
    remove: (key) => void environment.remove(key),
    [Symbol.asyncDispose]: () => environment.close(),
  };
}

function orFailure<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    return fail(error);
  }
}

const fail = (error: unknown): never => {
  throw new StoreFailure(`the store failed: ${(error as Error).message}`, { cause: error });
};
