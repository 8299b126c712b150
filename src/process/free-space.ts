import { statfs } from "node:fs/promises";

/**
 * Rejects, in words for an operator, when the disk of a folder has less free space than so many mebibytes: engines that
 * find none end, or do not say why they do not start.
 */
export async function refuseWithoutSpace(folder: string, mebibytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = Math.floor((bavail * bsize) / 2 ** 20);
  if (free >= mebibytes) return;
  throw new Error(
    `the disk of the folder ${folder} has ${free} MiB of free space, and ${mebibytes} MiB are needed; free some, then start again`,
  );
}
