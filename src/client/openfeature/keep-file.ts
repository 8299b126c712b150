import type { Logger } from "@openfeature/server-sdk";
import type { Copy } from "./copy.ts";
import { type Origin, readCopy, writeCopy } from "./copy-file.ts";

/** Minimum time between two writes. */
const intervalMs = 10_000;
/** Minimum ratio of the time between two writes to that of a write, so that large files cost a bounded share. */
const restShare = 20;

/** The file of a copy, which follows its changes. */
export type KeptFile = ReturnType<typeof keepFile>;

/** A file that can neither be read nor written costs a warning, and nothing else. */
export function keepFile(file: string, origin: Origin, logger: Logger) {
  let latest: Copy | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> | undefined;
  /** The position of the copy in the file, and when it was current. */
  let written = { cursor: "", currentAt: Number.NEGATIVE_INFINITY };
  let nextAt = Number.NEGATIVE_INFINITY;

  async function writeNow(copy: Copy): Promise<void> {
    latest = undefined;
    const start = performance.now();
    const { cursor, currentAt } = copy;
    try {
      await writeCopy(file, origin, copy);
      written = { cursor, currentAt };
    } catch (error) {
      logger.warn(`the copy of the features was not written to ${file}: ${(error as Error).message}`);
    }
    const end = performance.now();
    nextAt = end + Math.max(intervalMs, restShare * (end - start));
  }

  async function writeLatest(): Promise<void> {
    timer = undefined;
    writing = writeNow(latest as Copy);
    await writing;
    writing = undefined;
    schedule();
  }

  function schedule(): void {
    if (!latest || timer || writing) return;
    timer = setTimeout(writeLatest, Math.max(nextAt - performance.now(), 0));
  }

  return {
    /** The copy in the file; undefined if there is none, or one that cannot be used, with a warning. */
    async read(): Promise<Copy | undefined> {
      try {
        const copy = await readCopy(file, origin);
        if (copy) written = { cursor: copy.cursor, currentAt: copy.currentAt };
        return copy;
      } catch (error) {
        logger.warn(`the copy of the features in ${file} is not used: ${(error as Error).message}`);
        return undefined;
      }
    },
    /** Has the copy written soon, unless the file has this state. */
    write(copy: Copy): void {
      if (copy.cursor === written.cursor) return;
      latest = copy;
      schedule();
    },
    /** Writes the copy if the file has not its latest state, and stops. */
    async close(copy: Copy | undefined): Promise<void> {
      await writing;
      clearTimeout(timer);
      timer = undefined;
      if (copy && (latest || copy.currentAt > written.currentAt)) await writeNow(copy);
    },
  };
}
