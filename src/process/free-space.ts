import { statfsSync } from "node:fs";

/** The free space on the disk of a folder, in bytes. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/**
 * Throws if the disk of a folder has less free space than this many mebibytes, with a message for an operator. Engines on a
 * full disk crash, or do not report why they cannot start.
 */
export function requireFreeSpace(folder: string, mebibytes: number): void {
  const free = Math.floor(freeBytes(folder) / 2 ** 20);
  if (free >= mebibytes) return;
  throw new Error(
    `the disk of the folder ${folder} has ${free} MiB of free space, and ${mebibytes} MiB are needed; free some, then start again`,
  );
}
