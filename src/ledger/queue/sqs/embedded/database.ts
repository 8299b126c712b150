import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { folderError } from "../../../../process/folder-error.ts";
import { lockNames } from "../../../../process/folder-lock.ts";
import { freeBytes } from "../../../../process/free-space.ts";
import { makePrivateFolder } from "../../../../process/private-folder.ts";
import { schema } from "./schema.ts";

const version = 1;
const fileName = "messages.sqlite";
/** The names of the files of a queue: this one, and that of the previous release with its remainder. */
export const queueNames = /^(messages\.sqlite|fauxqs\.db|other-queues-\d+\.sqlite)(-(wal|shm|journal))?$/;
/** How long opening waits for other processes. */
export const openMaxMs = 10_000;
/** How long any later statement does; it holds the thread. */
const busyMaxMs = 20;
/** At most so much memory is used for pages of the file. */
const cacheKib = 8 * 1024;
/** The write-ahead log is cut to this size when it has become longer. */
const logBytesMax = 16 * 2 ** 20;
/** Space that stays free for the write-ahead log, and so for deleting messages. */
const reserveBytes = 32 * 2 ** 20;

/** Opens the file of a folder, and makes both if they do not exist. Throws an error with a message for an operator. */
export function openDatabase(folder: string): DatabaseSync {
  try {
    // SQLite gives its other files the mode of this one.
    makePrivateFolder(folder, { names: [queueNames, lockNames], files: [fileName] });
  } catch (error) {
    throw folderError(folder, error as Error);
  }
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(join(folder, fileName), { timeout: openMaxMs });
    database.exec(`
      pragma auto_vacuum = incremental;
      pragma secure_delete = on;
      pragma journal_mode = wal;
      pragma synchronous = full;
      pragma cache_size = -${cacheKib};
      pragma temp_store = memory;
      pragma journal_size_limit = ${logBytesMax}`);
    createTables(database, folder);
    database.exec(`pragma busy_timeout = ${busyMaxMs}`);
    return database;
  } catch (error) {
    database?.close();
    throw isSqliteError(error) ? explain(error, folder) : error;
  }
}

const versionOf = (database: DatabaseSync) =>
  (database.prepare("pragma user_version").get() as { user_version: number }).user_version;

function createTables(database: DatabaseSync, folder: string): void {
  if (versionOf(database) === 0) {
    database.exec("begin immediate");
    // Another process may have done it meanwhile.
    if (versionOf(database) === 0) database.exec(`${schema}; pragma user_version = ${version}`);
    database.exec("commit");
  }
  if (versionOf(database) <= version) return;
  throw new Error(`the queue in the folder ${folder} was made by a newer release; start the newer release`);
}

/**
 * Rewrites the file of a folder, also while a process uses it, so that it has no deleted message, and empties the write-ahead
 * log. Returns false if there is no file.
 */
export function rewriteFile(folder: string): boolean {
  if (!existsSync(join(folder, fileName))) return false;
  const database = openDatabase(folder);
  try {
    database.exec(`pragma busy_timeout = ${openMaxMs}; vacuum; pragma wal_checkpoint(truncate)`);
    return true;
  } finally {
    database.close();
  }
}

type SqliteError = Error & { errcode: number };
const isSqliteError = (error: unknown): error is SqliteError => error instanceof Error && "errcode" in error;
/** Extended codes of SQLite have the primary one in their lowest byte. */
const hasCode = (error: unknown, ...codes: number[]) =>
  isSqliteError(error) && codes.includes(error.errcode & 0xff);

/** True if another process is writing. */
export const isBusy = (error: unknown) => hasCode(error, 5);

/** True if there is no space: a full disk, a quota or a limit of the file size can also be an I/O error. */
export const isFull = (error: unknown) => hasCode(error, 10, 13);

/** True if the disk of a folder has space for so many bytes of messages: for the log and for the file. */
export const hasSpaceFor = (folder: string, bytes: number) => freeBytes(folder) > reserveBytes + 2 * bytes;

/** An error with a message for an operator. */
export function explain(error: Error, folder: string): Error {
  if (hasCode(error, 13)) return new Error(`the disk of the folder ${folder} is full; free some space`);
  if (hasCode(error, 11, 26)) {
    const advice = "restore a copy of the folder, or move the file away to begin with an empty queue";
    return new Error(`the file ${join(folder, fileName)} is damaged or no queue; ${advice}`);
  }
  return folderError(folder, error);
}
