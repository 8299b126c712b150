import { type ChangeRecord, eventPieces, type FeatureCalls } from "../change-stream.ts";
import { sleep } from "../limit.ts";
import { ResponseError } from "../response-error.ts";
import { backoffMs } from "../retry.ts";
import { applyChanges, type Copy, catchUp, copyKinds } from "./copy.ts";
import { changedFeatures } from "./entries.ts";
import type { KeptFile } from "./keep-file.ts";

/** How long a copy from a file waits for the service before it is used. */
const catchUpMaxMs = 1_000;
/** A stream that has lasted so long was no failure. */
const streamMinMs = 10_000;

/** Where a copy comes from, and who is called when it changes. */
interface Source {
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
export type KeptCopy = ReturnType<typeof newCopy>;

export const newCopy = (source: Source) => ({
  source,
  /** Undefined before the first copy exists. */
  copy: undefined as Copy | undefined,
  /** True if the service does not know the cursor of the copy, or has deleted records after it. */
  isLost: false,
  /** The error of the last attempt to reach the service; undefined if it has succeeded. */
  failure: undefined as Error | undefined,
  /** Ends the loop that follows the service. */
  controller: new AbortController(),
  following: Promise.resolve(),
});

/**
 * Begins to follow the service. Resolves when there is a copy: as soon as it is current, or the copy of the file after a
 * second at most. Without a file it rejects if the first attempt fails; more attempts follow until `stopFollowing`.
 */
export async function startFollowing(kept: KeptCopy): Promise<void> {
  kept.controller.abort();
  await kept.following;
  kept.controller = new AbortController();
  const { signal } = kept.controller;
  kept.copy ??= await kept.source.file?.read();
  signal.throwIfAborted();
  const attempt = new Promise<void>((resolve, reject) => {
    kept.following = follow(kept, signal, (error) => (error ? reject(error) : resolve()));
  });
  if (!kept.copy) return attempt;
  const wait = sleep(catchUpMaxMs, signal);
  await Promise.race([attempt, wait]).catch(() => signal.throwIfAborted());
}

/** Ends all calls at once. Resolves when the file has been written. */
export async function stopFollowing(kept: KeptCopy): Promise<void> {
  kept.controller.abort(new Error("the provider is closed"));
  await kept.following;
  await kept.source.file?.close(kept.copy);
}

/** Follows the service until the signal aborts. `onAttempt` is called after each attempt to make the copy current. */
async function follow(kept: KeptCopy, signal: AbortSignal, onAttempt: (error?: Error) => void) {
  for (let failures = 0; ; ) {
    let streamSince = Number.POSITIVE_INFINITY;
    try {
      const copy = await refresh(kept, signal);
      noteCurrent(kept, copy);
      onAttempt();
      streamSince = performance.now();
      await followStream(kept, copy, signal);
    } catch (error) {
      kept.failure = error as Error;
      if (kept.copy && error instanceof ResponseError && error.status === 410) kept.isLost = true;
      // A copy that is lost is worth another attempt before it is used.
      if (!kept.isLost || signal.aborted) onAttempt(kept.failure);
      if (signal.aborted) return;
      failures = performance.now() - streamSince > streamMinMs ? 1 : failures + 1;
      await sleep(backoffMs(failures), signal).catch(() => {});
    }
  }
}

/** Makes the copy current. Until a new one is complete, the old one stays. */
async function refresh(kept: KeptCopy, signal: AbortSignal): Promise<Copy> {
  const { calls, kinds, onChange } = kept.source;
  if (kept.copy && !kept.isLost) {
    await catchUp(calls.calls, kept.copy, signal, onChange);
    return kept.copy;
  }
  const fresh = await copyKinds(calls.calls, kinds, signal);
  const changed = kept.copy ? await changedFeatures(kept.copy.entries, fresh.entries) : [];
  signal.throwIfAborted();
  Object.assign(kept, { copy: fresh, isLost: false });
  for (const feature of changed) onChange(feature);
  return fresh;
}

/** Makes the changes of the stream. It ends with an error. */
async function followStream(kept: KeptCopy, copy: Copy, signal: AbortSignal): Promise<void> {
  const { calls, onChange } = kept.source;
  const { cursor } = copy;
  const pieces = eventPieces<ChangeRecord>(calls.readText, "listChanges", { cursor }, { signal });
  for await (const records of pieces) {
    applyChanges(copy, records, onChange);
    copy.currentAt = performance.now();
    noteCurrent(kept, copy);
  }
}

function noteCurrent(kept: KeptCopy, copy: Copy): void {
  kept.failure = undefined;
  kept.source.file?.write(copy);
  kept.source.onCurrent();
}
