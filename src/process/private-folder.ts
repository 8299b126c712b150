import { chmodSync, closeSync, type Dirent, mkdirSync, openSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Warn } from "../engines/adapter.ts";

/** The modes of a folder and of a file with data of persons: only their owner has access. */
export const privateFolderMode = 0o700;
export const privateFileMode = 0o600;

/** The part of a mode that gives access to other users. */
const ofOthers = 0o077;
const sticky = 0o1000;

/** The files and folders of one engine in a folder. */
export interface Contents {
  /** Match the names of all of them, those of earlier releases too. */
  names: RegExp[];
  /**
   * Files that a library makes, which would give them the mode of the umask. An empty file must be as good as none. Default:
   * none.
   */
  files?: string[];
}

/**
 * Makes a folder if there is none, and takes the access of other users from the folder and from its contents. A folder
 * that has anything else, is sticky, or belongs to another user keeps its mode, since others may need it: only the contents
 * change. Files are made before a library does it, so that nobody can open them in between. Calls `warn` if other users keep
 * access to contents. Throws if the folder or a file cannot be made.
 */
export function makePrivateFolder(folder: string, { names, files = [] }: Contents, warn: Warn = () => {}) {
  mkdirSync(folder, { recursive: true, mode: privateFolderMode });
  const found = readdirSync(folder);
  const own = found
    .filter((name) => names.some((pattern) => pattern.test(name)))
    .map((name) => join(folder, name));
  const { uid, mode } = statSync(folder);
  const isOnlyOurs = own.length === found.length && uid === process.getuid?.() && (mode & sticky) === 0;
  const paths = [...(isOnlyOurs ? [folder] : []), ...own.flatMap(withContents)];
  const failures = paths.flatMap((path) => takeAccess(path) ?? []);
  if (failures.length > 0) {
    const more = failures.length > 1 ? ` and ${failures.length - 1} more` : "";
    warn(`other users have access to ${failures[0]}${more}; only the owner of the files can change that`);
  }
  for (const name of files) makeFile(join(folder, name));
}

/** A path and, of a folder, the paths of all that is below it. Links below it are left out, since they can lead anywhere. */
function withContents(path: string): string[] {
  if (!ifPresent(() => statSync(path))?.isDirectory()) return [path];
  const below = ifPresent(() => readdirSync(path, { recursive: true, withFileTypes: true })) ?? [];
  const isNoLink = (entry: Dirent) => !entry.isSymbolicLink();
  return [path, ...below.filter(isNoLink).map(({ parentPath, name }) => join(parentPath, name))];
}

/** Takes the access of other users from a file or a folder. Returns its path if that is impossible. */
function takeAccess(path: string): string | undefined {
  const stats = ifPresent(() => statSync(path));
  if (!stats || (stats.mode & ofOthers) === 0) return undefined;
  try {
    ifPresent(() => chmodSync(path, stats.mode & 0o7777 & ~ofOthers));
    return undefined;
  } catch {
    return path;
  }
}

function makeFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", privateFileMode));
  } catch (error) {
    // It exists, perhaps since another process has made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** The result of work on a path; undefined if another process has removed what is there. */
function ifPresent<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
