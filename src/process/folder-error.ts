import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";

/** The reasons of file system errors for an operator, by code. Each is said of a folder or a store. */
export const fileErrors: Record<string, string> = {
  EROFS: "its file system is read-only",
  EACCES: "this user has no permission",
  EPERM: "this user has no permission",
  EEXIST: "there is a file of this name",
  ENOTDIR: "a part of its path is a file",
  ENOSPC: "its disk is full",
  EDQUOT: "the disk quota of this user is used up",
  EIO: "its disk reports an error, or is full",
};

/** An error for an operator, if a folder cannot be made or written. */
export function folderError(folder: string, error: Error & { code?: unknown }): Error {
  const code = String(error.code);
  // Node.js and SQLite do not say that a file system is read-only.
  const cause = fileErrors[code] ? code : (obstacleTo(folder) ?? code);
  return new Error(`the folder ${folder} cannot be written: ${fileErrors[cause] ?? error.message}`, {
    cause: error,
  });
}

/** The code of the error by which the folder cannot be written, or the nearest one above it that exists. */
function obstacleTo(folder: string): string | undefined {
  for (let parent = folder; ; parent = dirname(parent)) {
    try {
      accessSync(parent, constants.W_OK);
      return undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" || parent === dirname(parent)) return code;
    }
  }
}
