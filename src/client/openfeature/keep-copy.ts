import { changePieces, type FeatureCalls } from "../change-stream.ts";
import { ResponseError } from "../errors.ts";
import { sleep } from "../limit.ts";
import { backoffMs } from "../retry.ts";
import { applyChanges, type Copy, catchUp, copyKinds } from "./copy.ts";
import { changedFeatures } from "./entries.ts";
import type { KeptFile } from "./keep-file.ts";

/** How long a copy from a file waits for the service before it is used. */
const catchUpMaxMs = 1_000;
/** A stream that has lasted so long was no failure. */
const streamMinMs = 10_000;

interface Parts {
  calls: FeatureCalls;
  /** Sorted. */
  kinds: string[];
  file: KeptFile | undefined;
  /** Is called when the copy is known to be current, at least every 15 seconds while the service can be reached. */
  onCurrent: () => void;
  /** Is called for each feature whose entries change. */
  onChange: (feature: string) => void;
}

/** A copy of kinds that follows the service. */
export interface KeptCopy {
  /** Undefined before the first copy exists. */
  copy(): Copy | undefined;
  /** The error of the last attempt to reach the service; undefined if it has succeeded. */
  failure(): Error | undefined;
  /**
   * Begins to follow the service. Resolves when there is a copy: as soon as it is current, or the copy of the file after a
   * second at most. Without a file it rejects if the first attempt fails; more attempts follow until `close`.
   */
  open(): Promise<void>;
  /** Ends all calls at once. Resolves when the file has been written. */
  close(): Promise<void>;
}

export function keepCopy({ calls, kinds, file, onCurrent, onChange }: Parts): KeptCopy {
  let copy: Copy | undefined;
  /** The cursor of the copy is unknown to the service, or records after it have been deleted. */
  let isLost = false;
  let failure: Error | undefined;
  let controller = new AbortController();
  let following: Promise<void> = Promise.resolve();

  function noteCurrent(current: Copy): void {
    failure = undefined;
    file?.write(current);
    onCurrent();
  }

  /** Makes the copy current. Until a new one is complete, the old one stays. */
  async function refresh(signal: AbortSignal): Promise<Copy> {
    if (copy && !isLost) {
      await catchUp(calls.calls, copy, signal, onChange);
      return copy;
    }
    const fresh = await copyKinds(calls.calls, kinds, signal);
    const changed = copy ? await changedFeatures(copy.entries, fresh.entries) : [];
    signal.throwIfAborted();
    copy = fresh;
    isLost = false;
    for (const feature of changed) onChange(feature);
    return copy;
  }

  /** Follows the service until the signal aborts. `onAttempt` is called after each attempt to make the copy current. */
  async function follow(signal: AbortSignal, onAttempt: (error?: Error) => void): Promise<void> {
    for (let failures = 0; ; ) {
      let streamSince = Number.POSITIVE_INFINITY;
      try {
        const current = await refresh(signal);
        noteCurrent(current);
        onAttempt();
        streamSince = performance.now();
        for await (const records of changePieces(calls, { cursor: current.cursor }, { signal })) {
          applyChanges(current, records, onChange);
          current.currentAt = performance.now();
          noteCurrent(current);
        }
      } catch (error) {
        failure = error as Error;
        if (copy && error instanceof ResponseError && error.status === 410) isLost = true;
        // A copy that is lost is worth another attempt before it is used.
        if (!isLost || signal.aborted) onAttempt(failure);
        if (signal.aborted) return;
        failures = performance.now() - streamSince > streamMinMs ? 1 : failures + 1;
        await sleep(backoffMs(failures), signal).catch(() => {});
      }
    }
  }

  return {
    copy: () => copy,
    failure: () => failure,
    async open() {
      controller.abort();
      await following;
      controller = new AbortController();
      const { signal } = controller;
      copy ??= await file?.read();
      signal.throwIfAborted();
      const attempt = new Promise<void>((resolve, reject) => {
        following = follow(signal, (error) => (error ? reject(error) : resolve()));
      });
      if (!copy) return attempt;
      const wait = sleep(catchUpMaxMs, signal);
      await Promise.race([attempt, wait]).catch(() => signal.throwIfAborted());
    },
    async close() {
      controller.abort(new Error("the provider is closed"));
      await following;
      await file?.close(copy);
    },
  };
}
