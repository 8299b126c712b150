import { open as openEnvironment, type RootDatabase } from "lmdb";
import { inTime } from "../../service/in-time.ts";
import { type OrderedMap, openOrderedStore } from "./ordered-store.ts";
import { changesKept, type FeatureStore, StoreFailure } from "./store.ts";

const closeMaxMs = 1000;

/** In a folder of this machine, which several processes can share. What is answered is on the disk. */
export async function open(url: URL): Promise<FeatureStore> {
  const environment = environmentIn(decodeURIComponent(url.pathname));
  const map = orderedMap(environment);
  try {
    await map.write(() => bringToLayout(environment));
    return await openOrderedStore(map, changesKept(url));
  } catch (error) {
    await map[Symbol.asyncDispose]();
    throw error;
  }
}

type Environment = RootDatabase<unknown, string>;

const environmentIn = (folder: string): Environment =>
  orFailure(() =>
    // Batching by turns of the event loop would leave a promise of its own behind that nobody hears fail.
    openEnvironment({ path: folder, noSubdir: false, eventTurnBatching: false, keyEncoder }),
  );

/** A key is its text in UTF-8: the library's own keys escape some characters where the text is short, and sort by that. */
const keyEncoder = {
  writeKey(key: string, target: Buffer, start: number): number {
    const end = start + target.write(key, start);
    // What does not fit is cut before a character of up to four bytes. The library then takes a buffer that is empty.
    if (end > target.length - 4) throw new RangeError("the key does not fit");
    return end;
  },
  readKey: (source: Buffer, start: number, end: number) => source.toString("utf8", start, end),
};

const layoutKey = "layout";
const layout = 2;
/** It stands before a hash in keys of the library's own, and in no others, since names hold no control characters. */
const escapeMark = "\u0004";

/** Rewrites what is kept under the library's own keys, once: since then the folder says which layout it has. */
function bringToLayout(environment: Environment): void {
  if (environment.get(layoutKey) !== undefined) return;
  const escaped = [...environment.getKeys({ start: "" }).filter((key) => key.includes(escapeMark))];
  for (const key of escaped) {
    void environment.put(key.replaceAll(escapeMark, ""), environment.get(key));
    void environment.remove(key);
  }
  void environment.put(layoutKey, layout);
}

function orderedMap(environment: Environment): OrderedMap {
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
