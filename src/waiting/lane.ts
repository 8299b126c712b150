import { type Owner, shareOf } from "./owner.ts";
import { withTimeout } from "./with-timeout.ts";

interface LaneLimits {
  /** Work that runs at the same time. */
  runningMax: number;
  /** Beyond it, the newest work of the owner and part with the most waiting work is rejected. */
  waitingMax: number;
  /** How long work waits, in milliseconds, and then rejects with `timeout`. */
  limitMs: number;
  /** Default: `busy`. Created once, since an error costs time. */
  timeout?: Error;
  /** The error if too much work waits. */
  busy: Error;
}

/** A limited number of places for work, of which an owner has at most a third. */
export function openLane({ runningMax, waitingMax, limitMs, busy, timeout = busy }: LaneLimits) {
  const all = newShare(runningMax);

  async function waitIn(share: Share): Promise<void> {
    const entry: Entry = { ...Promise.withResolvers<void>(), isRunning: false };
    share.entries.push(entry);
    count(share, "waiting", 1);
    if (all.waiting > waitingMax) rejectNewest(all, busy);
    await withTimeout(entry.promise, limitMs, timeout).catch((error) => {
      const place = share.entries.indexOf(entry);
      // Its turn may have come too late, while this thread was busy: then the next one gets it.
      if (entry.isRunning) leave(share);
      else if (place !== -1) takeEntry(share, place);
      throw error;
    });
  }

  function leave(share: Share): void {
    count(share, "running", -1);
    const next = nextIn(all);
    if (!next) return;
    const entry = takeEntry(next, 0);
    count(next, "running", 1);
    entry.isRunning = true;
    entry.resolve();
  }

  return {
    /**
     * Runs work when its owner has a free place. While work waits, the owners take turns. `part` divides the share of an owner
     * in the same way. Rejects with `busy` if too much work waits, most of it of this owner and part.
     */
    async run<Result>(owner: Owner, work: () => Promise<Result>, part?: string): Promise<Result> {
      const ofOwner = shareIn(all, owner);
      const share = part === undefined ? ofOwner : shareIn(ofOwner, part);
      // Each place that becomes free is given to the next one at once, so nothing that waits could take this one.
      if (hasPlace(share)) count(share, "running", 1);
      else await waitIn(share);
      try {
        return await work();
      } finally {
        leave(share);
      }
    },
  };
}

/** The work of all owners, of one of them, or of a part of that. */
interface Share {
  runningMax: number;
  running: number;
  waiting: number;
  /** Its own work that waits, the oldest first. */
  entries: Entry[];
  /** The shares with work into which it is divided, in the order of their turns. */
  shares: Map<string, Share>;
  name: string;
  parent?: Share;
}

interface Entry extends PromiseWithResolvers<void> {
  isRunning: boolean;
}

const newShare = (runningMax: number, name = ""): Share => ({
  ...{ runningMax, name, running: 0, waiting: 0 },
  ...{ entries: [], shares: new Map<string, Share>() },
});

/** It is in the share above it as long as it has work. */
const shareIn = (parent: Share, name: string): Share =>
  parent.shares.get(name) ?? { ...newShare(shareOf(parent.runningMax), name), parent };

function count(share: Share, kind: "running" | "waiting", change: 1 | -1): void {
  share[kind] += change;
  if (!share.parent) return;
  if (share.running + share.waiting === 0) share.parent.shares.delete(share.name);
  else share.parent.shares.set(share.name, share);
  count(share.parent, kind, change);
}

const hasPlace = ({ running, runningMax, parent }: Share): boolean =>
  running < runningMax && (parent === undefined || hasPlace(parent));

function takeEntry(share: Share, place: number): Entry {
  const [entry] = share.entries.splice(place, 1);
  count(share, "waiting", -1);
  return entry as Entry;
}

/** The share whose oldest entry is next. Those above it have their next turn after the others. */
function nextIn(share: Share): Share | undefined {
  if (share.running >= share.runningMax || share.waiting === 0) return undefined;
  if (share.entries.length > 0) return share;
  for (const [name, part] of share.shares) {
    const next = nextIn(part);
    if (!next) continue;
    share.shares.delete(name);
    share.shares.set(name, part);
    return next;
  }
  return undefined;
}

function rejectNewest(all: Share, error: Error): void {
  let most = all;
  while (most.shares.size > 0) {
    most = [...most.shares.values()].reduce((one, other) => (other.waiting > one.waiting ? other : one));
  }
  takeEntry(most, most.entries.length - 1).reject(error);
}
