import { statfs } from "node:fs/promises";

/**
 * Rejects if the disk of a folder has less free space than this many mebibytes, with a message for an operator. Engines
 * on a full disk crash, or do not report why they cannot start.
 */
export async function requireFreeSpace(folder: string, mebibytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = Math.floor((bavail * bsize) / 2 ** 20);
  if (free >= mebibytes) return;
  throw new Error(
    `the disk of the folder ${folder} has ${free} MiB of free space, and ${mebibytes} MiB are needed; free some, then start again`,
  );
}
