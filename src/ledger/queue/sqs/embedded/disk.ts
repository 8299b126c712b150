import { freeBytes } from "../../../../process/free-space.ts";

/** Space that stays free for the write-ahead log, and so for deleting messages. */
const reserveBytes = 32 * 2 ** 20;

/** True if the disk of a folder has space for so many bytes of messages: for the log and for the file. */
export function hasSpaceFor(folder: string, bytes: number): boolean {
  return freeBytes(folder) > reserveBytes + 2 * bytes;
}
