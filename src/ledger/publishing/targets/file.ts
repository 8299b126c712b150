import { mkdir, open as openFile } from "node:fs/promises";
import { join } from "node:path";
import type { Address } from "../../../process/adapter.ts";
import { messageOf } from "../../../process/describe-error.ts";
import type { Target } from "../target.ts";

/** The file in the folder. */
export const fileName = "events.ndjson";

/** Bytes that are read at a time to find the last line. */
const pieceLength = 65_536;

/** Appends events to a file in a folder, one on each line. An event is confirmed when it is on the disk. */
export async function open({ url }: Address): Promise<Target> {
  const folder = decodeURIComponent(url.pathname);
  await mkdir(folder, { recursive: true });
  const file = await openFile(join(folder, fileName), "a+");
  await dropBrokenLine(file);
  return {
    async send(deliveries) {
      const text = deliveries.map(({ body }) => `${body}\n`).join("");
      const { size } = await file.stat();
      try {
        await file.appendFile(text);
        await file.datasync();
        return deliveries.map(() => undefined);
      } catch (error) {
        await file.truncate(size).catch(() => {});
        return deliveries.map(() => ({ isRejected: false, reason: messageOf(error) }));
      }
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/** Removes a line that is not complete, since its event was not confirmed and will be sent again. */
async function dropBrokenLine(file: Awaited<ReturnType<typeof openFile>>): Promise<void> {
  const { size } = await file.stat();
  let end = size;
  while (end > 0) {
    const start = Math.max(0, end - pieceLength);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    const newline = buffer.subarray(0, bytesRead).lastIndexOf("\n");
    if (newline >= 0) {
      if (start + newline + 1 < size) await file.truncate(start + newline + 1);
      return;
    }
    end = start;
  }
  await file.truncate(0);
}
