import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { open as openEnvironment, type RootDatabase } from "lmdb";
import { refuseWithoutSpace } from "../../process/free-space.ts";
import { inTime } from "../../process/with-timeout.ts";
import { type OrderedMap, openOrderedStore } from "./ordered-store.ts";
import { changesKept, type FeatureStore, StoreFailure } from "./store.ts";

const spaceMinMebibytes = 1;
const openMaxMs = 10_000;
const writeMaxMs = 2000;
const closeMaxMs = 1000;

/**
 * In a folder of this machine, which several processes can share. What is answered is on the disk.
 *
 * One process writes at a time, and one that hangs meanwhile (stopped, or on a disk that hangs) holds up the others,
 * since the library waits for it without a limit. So a write is given up on after 2 seconds; those that come later fail
 * at once until the library has got through. Reads go on. When the process that hangs goes on, or ends, so does writing.
 */
export async function open(url: URL): Promise<FeatureStore> {
  const folder = decodeURIComponent(url.pathname);
  // Making the files maps them, and a disk that is full then ends the process. What is there can be read on it.
  if (!existsSync(join(folder, "lock.mdb"))) await makeRoom(folder);
  const environment = environmentIn(folder);
  const map = orderedMap(environment);
  try {
    await map.write(() => bringToLayout(environment));
    return await openOrderedStore(map, changesKept(url));
  } catch (error) {
    await map[Symbol.asyncDispose]();
    throw error;
  }
}

async function makeRoom(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await refuseWithoutSpace(folder, spaceMinMebibytes);
  } catch (error) {
    fail(error as Error);
  }
}

type Environment = RootDatabase<unknown, string>;

const environmentIn = (folder: string): Environment =>
  orFailure(() => {
    using _watch = watchOpening(folder);
    // Batching by turns of the event loop would leave a promise of its own behind that nobody hears fail.
    return openEnvironment({ path: folder, noSubdir: false, eventTurnBatching: false, keyEncoder });
  });

/**
 * The library writes when it opens a folder, and this thread waits until nobody else does. A process in which that takes
 * longer than the limit is ended by another thread, with these words.
 */
function watchOpening(folder: string): Disposable {
  const isOpen = new Int32Array(new SharedArrayBuffer(4));
  const words = `the store failed: ${folder} was not opened within ${openMaxMs} ms; another process hangs while it writes to it, and must go on or be ended first`;
  const workerData = { isOpen, limitMs: openMaxMs, words };
  // Options of the command line are of the program, such as that its text is a module.
  new Worker(new URL("lmdb-opening.ts", import.meta.url), { workerData, execArgv: [] }).unref();
  return {
    [Symbol.dispose]() {
      Atomics.store(isOpen, 0, 1);
      Atomics.notify(isOpen, 0);
    },
  };
}

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
  /** Writes that were given up on, and that the library has not done with. */
  let overdue = 0;

  async function write<Result>(work: () => Result): Promise<Result> {
    if (overdue > 0) throw late;
    let isGivenUp = false;
    // Work that was given up on before it began is not done any more.
    const begin = () => (isGivenUp ? (undefined as never) : work());
    const writing = orFailure(() => environment.transaction(begin)).catch(failCommit);
    try {
      return await inTime(writing, writeMaxMs, late);
    } catch (error) {
      if (error === late) {
        isGivenUp = true;
        overdue += 1;
        const settle = () => {
          overdue -= 1;
        };
        writing.then(settle, settle);
      }
      throw error;
    }
  }

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
    write,
    put: (key, value) => void environment.put(key, value),
    remove: (key) => void environment.remove(key),
    // After a commit that failed, or for a writer that hangs, the library would wait without end.
    [Symbol.asyncDispose]: () =>
      inTime(environment.close(), closeMaxMs, new Error()).catch(() => {
        // The end of the process, and what the library does then, would wait for the thread of the library that does.
        if (overdue > 0) process.prependOnceListener("exit", () => process.kill(process.pid, "SIGKILL"));
      }),
  };
}

const late = new StoreFailure(
  `the store did not answer within ${writeMaxMs} ms; another process may hang while it writes`,
);

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
