import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Warn } from "../engines/adapter.ts";
import { retry } from "../waiting/retry.ts";
import { folderError } from "./folder-error.ts";
import type { Logger } from "./log.ts";
import { makePrivateFolder, privateFileMode } from "./private-folder.ts";

/** Another process has locked the folder; the message names it. */
export class FolderInUse extends Error {
  readonly folder: string;

  constructor(folder: string, holder: string) {
    super(`the folder ${folder} is in use by ${holder}`);
    this.folder = folder;
  }
}

const lockFile = "lock.sqlite";
/** The names of the files of a lock. */
export const lockNames = /^(lock\.sqlite(-journal)?|holder\.txt)$/;

/**
 * Makes a private folder, whose other contents have these names, and locks it for this process until disposal. The
 * operating system releases the lock when the process ends in any way. Throws `FolderInUse` if another process has the
 * lock, and an error with a message for an operator if the folder cannot be written.
 */
export function lockFolder(folder: string, names: RegExp, warn: Warn): Disposable {
  const holderFile = join(folder, "holder.txt");
  try {
    makePrivateFolder(folder, { names: [names, lockNames], files: [lockFile] }, warn);
    const lock = new DatabaseSync(join(folder, lockFile));
    try {
      lock.exec("pragma journal_mode = off; begin exclusive");
      const holder = `process ${process.pid} (${basename(process.argv[1] ?? "node")})`;
      writeFileSync(holderFile, holder, { mode: privateFileMode });
    } catch (error) {
      lock.close();
      throw error;
    }
    return { [Symbol.dispose]: () => lock.close() };
  } catch (error) {
    const { code, errcode } = error as Error & { code?: string; errcode?: number };
    if (errcode === sqliteBusy) throw new FolderInUse(folder, read(holderFile));
    if (errcode === sqliteFull || code === "ENOSPC")
      throw new Error(`the disk of the folder ${folder} is full; free some space, then start again`);
    throw folderError(folder, error as Error);
  }
}

const sqliteBusy = 5;
const sqliteFull = 13;

function read(holderFile: string): string {
  try {
    return readFileSync(holderFile, "utf8") || "another process";
  } catch {
    return "another process";
  }
}

/** How long a start waits for a folder: a command or the previous process can still have it. */
const freeWithinMs = 5000;

/** Opens something in a folder, and tries again for 5 seconds while the folder is in use. */
export const openWhenFree = <Opened>(open: () => Promise<Opened>, log: Logger): Promise<Opened> =>
  retry(open, {
    forMs: freeWithinMs,
    mayPass: (error) => error instanceof FolderInUse,
    onRetry: ({ message }, isFirst) =>
      isFirst && log.warn(`${message}; it is awaited for ${freeWithinMs / 1000} s`),
  });
