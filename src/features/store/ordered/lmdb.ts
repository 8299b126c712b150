import { statSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { join } from "node:path";
import { getSystemErrorName } from "node:util";
import { Worker } from "node:worker_threads";
import { open as openEnvironment, type RootDatabase } from "lmdb";
import type { Address } from "../../../engines/adapter.ts";
import { fileErrors, folderError } from "../../../process/folder-error.ts";
import { requireFreeSpace } from "../../../process/free-space.ts";
import { makePrivateFolder } from "../../../process/private-folder.ts";
import { withTimeout } from "../../../waiting/with-timeout.ts";
import { recordsKept, type StoreParameters } from "../parameters.ts";
import { type FeatureStore, StoreFailure } from "../store.ts";
import type { OrderedMap } from "./map.ts";
import { openOrderedStore } from "./store.ts";

const spaceMinMebibytes = 1;
const openMaxMs = 10_000;
const writeMaxMs = 2000;
const closeMaxMs = 1000;

/**
 * A store in a folder, which several processes on one machine can share. Changes are durable when they resolve.
 *
 * One process writes at a time. While a writer hangs (it is stopped, or its disk hangs), the library of the other
 * processes waits without a limit. So a write fails after 2 seconds, and later ones fail immediately until the
 * library continues. Reads succeed meanwhile. Writes succeed again when the writer continues or ends.
 */
export async function open({ url, parameters, warn }: Address<StoreParameters>): Promise<FeatureStore> {
  const kept = recordsKept(parameters);
  const folder = decodeURIComponent(url.pathname);
  try {
    makePrivateFolder(folder, { names: [/^(data|lock)\.mdb$/], files: ["data.mdb", "lock.mdb"] }, warn);
  } catch (error) {
    throw folderError(folder, error as Error);
  }
  // The library maps the files into memory, which ends the process if they are empty and the disk is full. Others can be
  // read.
  if (statSync(join(folder, "lock.mdb")).size === 0) requireFreeSpace(folder, spaceMinMebibytes);
  await requireStore(folder);
  const environment = environmentIn(folder);
  const map = orderedMap(environment);
  try {
    await map.migrate(() => migrateLayout(environment));
    return await openOrderedStore(map, kept);
  } catch (error) {
    await map[Symbol.asyncDispose]();
    throw error;
  }
}

/** The number that LMDB writes into the first page of its file, and its place. */
const magic = 0xbeefc0de;
const magicAt = 24;

/** Rejects if the file is not one of LMDB: the library would map it into memory and end the process. */
async function requireStore(folder: string): Promise<void> {
  const file = join(folder, "data.mdb");
  const start = await readStart(file, magicAt + 4).catch((error) => {
    throw folderError(folder, error);
  });
  // Nothing may have been written into it yet.
  const isEmpty = start.every((byte) => byte === 0);
  if (isEmpty || (start.length === magicAt + 4 && start.readUInt32LE(magicAt) === magic)) return;
  throw new Error(`${file} ${damaged}`);
}

const damaged = "is damaged or not a store of features; restore a copy, or move the folder away";

async function readStart(path: string, length: number): Promise<Buffer> {
  await using file = await openFile(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
  return buffer.subarray(0, bytesRead);
}

type Environment = RootDatabase<unknown, string>;

const environmentIn = (folder: string): Environment =>
  orFailure(() => {
    using _watch = watchOpening(folder);
    // With batching, the library creates a promise whose rejection nothing handles.
    return openEnvironment({ path: folder, noSubdir: false, eventTurnBatching: false, keyEncoder });
  });

/**
 * The library writes when it opens a folder, and this thread waits for other writers. If that takes longer than the
 * limit, another thread prints the message and ends the process.
 */
function watchOpening(folder: string): Disposable {
  const isOpen = new Int32Array(new SharedArrayBuffer(4));
  const message = `the store failed: ${folder} was not opened within ${openMaxMs} ms; another process hangs in a write to it and must continue or be ended first`;
  const workerData = { isOpen, limitMs: openMaxMs, message };
  // Without the Node.js options of the program, which may not fit a worker.
  new Worker(new URL("lmdb-watchdog.ts", import.meta.url), { workerData, execArgv: [] }).unref();
  return {
    [Symbol.dispose]() {
      Atomics.store(isOpen, 0, 1);
      Atomics.notify(isOpen, 0);
    },
  };
}

/** Keys are UTF-8. The library's own encoding escapes some characters of short keys, which changes their order. */
const keyEncoder = {
  writeKey(key: string, target: Buffer, start: number): number {
    const end = start + target.write(key, start);
    // A key that does not fit is truncated before a character of up to four bytes. The library retries with another
    // buffer, which is empty.
    if (end > target.length - 4) throw new RangeError("the key does not fit");
    return end;
  },
  readKey: (source: Buffer, start: number, end: number) => source.toString("utf8", start, end),
};

const layoutKey = "layout";
const layout = 2;
/** The library's own encoding puts it before a hash. Names contain no control characters. */
const escapeMark = "\u0004";

/** Rewrites keys in the library's own encoding, unless the folder has a layout number. */
function migrateLayout(environment: Environment): void {
  if (environment.get(layoutKey) !== undefined) return;
  const escaped = [...environment.getKeys({ start: "" }).filter((key) => key.includes(escapeMark))];
  for (const key of escaped) {
    void environment.put(key.replaceAll(escapeMark, ""), environment.get(key));
    void environment.remove(key);
  }
  void environment.put(layoutKey, layout);
}

function orderedMap(environment: Environment): OrderedMap {
  /** Number of writes that timed out and that the library has not finished. */
  let overdue = 0;

  async function write<Result>(work: () => Result): Promise<Result> {
    if (overdue > 0) throw late;
    let isTimedOut = false;
    // Work that timed out before it began is skipped.
    const begin = () => (isTimedOut ? (undefined as never) : work());
    const writing = orFailure(() => environment.transaction(begin)).catch(failCommit);
    try {
      return await withTimeout(writing, writeMaxMs, late);
    } catch (error) {
      if (error === late) {
        isTimedOut = true;
        overdue += 1;
        writing.catch(() => {}).finally(() => overdue--);
      }
      throw error;
    }
  }

  return {
    read: (work) =>
      orFailure(() => {
        // Within a turn of the event loop the library would reuse the snapshot of an earlier read, although other
        // processes may have written since.
        environment.resetReadTxn();
        return work();
      }),
    get: (key) => environment.get(key) as never,
    *range(start, end) {
      for (const { value } of environment.getRange({ start, end })) yield value as never;
    },
    last(start, end) {
      const options = { start: end, end: start, exclusiveStart: true, inclusiveEnd: true, reverse: true };
      for (const { value } of environment.getRange({ ...options, limit: 1 })) return value as never;
      return undefined;
    },
    count: (start, end) => environment.getKeysCount({ start, end }),
    write,
    migrate: (work) => orFailure(() => environment.transaction(work)).catch(failCommit),
    put: (key, value) => void environment.put(key, value),
    remove: (key) => void environment.remove(key),
    // After a failed commit, or while a writer hangs, the library would wait without a limit.
    [Symbol.asyncDispose]: () =>
      withTimeout(environment.close(), closeMaxMs, new Error()).catch(() => {
        // At its exit the process would wait for the library's thread, which waits for the writer.
        if (overdue > 0) process.prependOnceListener("exit", () => process.kill(process.pid, "SIGKILL"));
      }),
  };
}

const late = new StoreFailure(
  `the store did not respond within ${writeMaxMs} ms; another process may hang in a write`,
);

function orFailure<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    return fail(error as Error);
  }
}

/** The error of a failed commit has its cause as a promise that rejects. */
const failCommit = (error: Error & { commitError?: Promise<never> }): Promise<never> =>
  (error.commitError ?? Promise.reject(error)).catch(fail);

/** The codes of LMDB for a page that is missing, of a wrong type, or no page of LMDB. */
const damageCodes = [-30_797, -30_796, -30_793];

function fail(error: Error & { code?: unknown }): never {
  throw new StoreFailure(`the store failed: ${reasonOf(error)}`, { cause: error });
}

/** The code of LMDB is one of its own, or the number of a system error. */
function reasonOf({ message, code }: Error & { code?: unknown }): string {
  if (typeof code !== "number") return message;
  if (damageCodes.includes(code)) return `its file data.mdb ${damaged}`;
  return (code > 0 && fileErrors[getSystemErrorName(-code)]) || message;
}
