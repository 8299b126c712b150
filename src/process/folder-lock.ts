import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/**
 * Locks a folder for this process until disposal. The operating system releases the lock when the process ends in any
 * way. Throws an error with a message for an operator if another process has the lock or the folder cannot be written.
 */
export function lockFolder(folder: string): Disposable {
  try {
    mkdirSync(folder, { recursive: true });
    const lock = new DatabaseSync(join(folder, "lock.sqlite"));
    try {
      lock.exec("pragma journal_mode = off; begin exclusive");
    } catch (error) {
      lock.close();
      throw error;
    }
    return { [Symbol.dispose]: () => lock.close() };
  } catch (error) {
    const { code, errcode, message } = error as Error & { code?: string; errcode?: number };
    if (errcode === sqliteBusy) throw new Error(`the folder ${folder} is in use by another process`);
    if (errcode === sqliteFull || code === "ENOSPC")
      throw new Error(`the disk of the folder ${folder} is full; free some space, then start again`);
    throw new Error(
      `the folder ${folder} cannot be written: ${code === "ERR_SQLITE_ERROR" ? message : code}`,
    );
  }
}

const sqliteBusy = 5;
const sqliteFull = 13;
