import type { FetchedPartition } from "./fetch.ts";
import { type Partition, read, type Unread } from "./partition.ts";

/** Limits for the memory of unacknowledged messages: of a partition, and of all without the retry topics. */
const partitionBytesMax = 4 * 2 ** 20;
const totalBytesMax = 24 * 2 ** 20;
/** After so many bytes another partition has its turn. A usual response is read in one. */
const turnBytes = 4 * 2 ** 20;
/** A batch that cannot be read is fetched again after this time: an operator may have deleted it. */
const stoppedMs = 30_000;

/** Reads what was fetched into the partitions of a process, as there is room. */
export interface Reading {
  /** The partitions from which more can be fetched: they have room, and nothing of them waits for it. */
  wanted(): Partition[];
  /** Takes what a broker has sent of a partition. Resolves after the first turn of the partition. */
  add(partition: Partition, fetched: FetchedPartition): Promise<void>;
  /** Reads on where there is room again. */
  readOn(): void;
}

/**
 * Begins to read into these partitions. One of them has its turn at a time: a decompressor takes up to 8 MiB. Calls `onTurn`
 * after each turn, and `onStopped` if a batch cannot be read: its partition waits for 30 seconds, and the others go on.
 */
export function openReading(
  partitions: ReadonlyMap<string, Partition>,
  onTurn: (partition: Partition) => void,
  onStopped: (reason: string) => void,
): Reading {
  let turns: Promise<void> = Promise.resolve();

  // Messages of retry topics wait long, and must not take the room of others.
  const isTotalBelowMax = (bytesOf: (partition: Partition) => number) =>
    partitions.values().reduce((sum, each) => sum + (each.isRetry ? 0 : bytesOf(each)), 0) < totalBytesMax;
  const hasRoom = ({ bytes, isRetry }: Partition) =>
    bytes < partitionBytesMax && (isRetry || isTotalBelowMax((each) => each.bytes));

  function nextTurn(partition: Partition): Promise<void> {
    const { unread } = partition;
    if (unread && !unread.hasTurn) {
      unread.hasTurn = true;
      turns = turns.then(() => takeTurn(partition, unread));
    }
    return turns;
  }

  async function takeTurn(partition: Partition, unread: Unread): Promise<void> {
    try {
      for (let bytes = 0; bytes < turnBytes && hasRoom(partition); ) {
        const group = await unread.groups.next();
        if (group.done) {
          partition.unread = undefined;
          break;
        }
        bytes += group.value;
      }
      if (partition.stopped && partition.position > partition.stopped.position) partition.stopped = undefined;
    } catch (error) {
      partition.unread = undefined;
      stop(partition, (error as Error).message);
    }
    unread.hasTurn = false;
    if (hasRoom(partition)) nextTurn(partition);
    onTurn(partition);
  }

  function stop(partition: Partition, reason: string): void {
    const before = partition.stopped;
    const stopped = { reason, position: partition.position, isWaiting: true };
    partition.stopped = stopped;
    if (before?.reason !== reason) onStopped(reason);
    setTimeout(() => {
      stopped.isWaiting = false;
      onTurn(partition);
    }, stoppedMs).unref();
  }

  return {
    wanted: () =>
      [...partitions.values()].filter(
        (partition) =>
          !(partition.unread || partition.stopped?.isWaiting) &&
          hasRoom(partition) &&
          (partition.isRetry || isTotalBelowMax(({ bytes, unread }) => bytes + (unread?.bytes ?? 0))),
      ),
    async add(partition, fetched) {
      const bytes = fetched.batches.reduce((sum, { records }) => sum + records.length, 0);
      partition.unread = { groups: read(partition, fetched), bytes, hasTurn: false };
      await nextTurn(partition);
    },
    readOn() {
      for (const partition of partitions.values()) if (hasRoom(partition)) nextTurn(partition);
    },
  };
}

/** Ends the reading into a partition that another process takes over. */
export function endReading({ unread }: Partition): void {
  unread?.groups.return();
}
