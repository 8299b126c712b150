import { type FileHandle, mkdir, open as openFile } from "node:fs/promises";
import { join } from "node:path";
import type { Address } from "../../../engines/adapter.ts";
import { makePrivateFolder, privateFileMode, privateFolderMode } from "../../../process/private-folder.ts";
import { fileNotWritten } from "../reason.ts";
import type { Target } from "../target.ts";

/** The file in the folder. */
export const fileName = "events.ndjson";

/** The names of the file, and of one that was moved away as `logrotate` does it. */
const names = /^events\.ndjson/;

/** Bytes that are read at a time to find the last line. */
const pieceLength = 65_536;

/**
 * Appends events to a file in a folder, one on each line. An event is confirmed when it is on the disk. The file is opened
 * for each call, so that it can be moved away meanwhile.
 */
export async function open({ url, warn }: Address): Promise<Target> {
  const folder = decodeURIComponent(url.pathname);
  try {
    makePrivateFolder(folder, { names: [names] }, warn);
  } catch {
    // The folder may be there later. Until then each attempt fails with the reason.
  }
  return {
    requestsAtATime: 1,
    eventsAtATime: 1000,
    async send(deliveries) {
      try {
        await append(folder, deliveries.map(({ body }) => `${body}\n`).join(""));
        return deliveries.map(() => undefined);
      } catch (error) {
        return deliveries.map(() => ({ cause: "unknown", reason: fileNotWritten(error) }));
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function append(folder: string, lines: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: privateFolderMode });
  await using file = await openFile(join(folder, fileName), "a+", privateFileMode);
  await dropBrokenLine(file);
  await file.appendFile(lines);
  await file.datasync();
}

/** Removes a last line that is not complete, since its event was not confirmed and is sent again. */
async function dropBrokenLine(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  let end = size;
  while (end > 0) {
    const start = Math.max(0, end - pieceLength);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    const newline = buffer.subarray(0, bytesRead).lastIndexOf("\n");
    if (newline >= 0) {
      end = start + newline + 1;
      break;
    }
    end = start;
  }
  if (end < size) await file.truncate(end);
}
