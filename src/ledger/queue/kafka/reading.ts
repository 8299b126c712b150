import type { FetchedPartition } from "./fetch.ts";
import type { Member } from "./member.ts";
import { type Partition, read, type Unread } from "./partition.ts";

/** Limits for the memory of unacknowledged messages: of a partition, and of all without the retry topics. */
const partitionBytesMax = 4 * 2 ** 20;
const totalBytesMax = 24 * 2 ** 20;
/** After so many bytes another partition has its turn. A usual response is read in one. */
const turnBytes = 4 * 2 ** 20;
/** A batch that cannot be read is fetched again after this time: an operator may have deleted it. */
const stoppedMs = 30_000;

type Partitions = ReadonlyMap<string, Partition>;

/** True if all partitions together may have more. Messages of retry topics wait long, and must not take the room of others. */
const isTotalBelowMax = (partitions: Partitions, bytesOf: (partition: Partition) => number) =>
  partitions.values().reduce((sum, each) => sum + (each.isRetry ? 0 : bytesOf(each)), 0) < totalBytesMax;

const hasRoom = (partitions: Partitions, { bytes, isRetry }: Partition) =>
  bytes < partitionBytesMax && (isRetry || isTotalBelowMax(partitions, (each) => each.bytes));

/** The partitions from which more can be fetched: they have room, and nothing of them waits for it. */
export const wantedOf = (partitions: Partitions): Partition[] =>
  [...partitions.values()].filter(
    (partition) =>
      partition.phase.name === "idle" &&
      hasRoom(partitions, partition) &&
      (partition.isRetry ||
        isTotalBelowMax(partitions, ({ bytes, phase }) => bytes + (phase.unread?.bytes ?? 0))),
  );

/** Takes what a broker has sent of a partition. Resolves after the first turn of the partition. */
export async function addFetched(
  member: Member,
  partition: Partition,
  fetched: FetchedPartition,
): Promise<void> {
  // Two brokers can have sent the same, if the leader has changed.
  if (partition.phase.name !== "idle" || fetched.batches.length === 0) return;
  partition.arrivedAt = performance.now();
  const bytes = fetched.batches.reduce((sum, { records }) => sum + records.length, 0);
  giveTurn(member, partition, { groups: read(partition, fetched), bytes });
  await member.turns;
}

/** Gives a turn to each partition whose batches wait for room, and have it now. */
export function readOn(member: Member): void {
  for (const partition of member.partitions.values()) {
    const { phase } = partition;
    if (phase.name === "fetched" && hasRoom(member.partitions, partition))
      giveTurn(member, partition, phase.unread);
  }
}

/** One partition has its turn at a time: a decompressor takes up to 8 MiB. */
function giveTurn(member: Member, partition: Partition, unread: Unread): void {
  partition.phase = { name: "reading", unread };
  member.turns = member.turns.then(() => takeTurn(member, partition, unread));
}

async function takeTurn(member: Member, partition: Partition, unread: Unread): Promise<void> {
  try {
    const isRead = await readSome(member.partitions, partition, unread);
    partition.phase = isRead ? { name: "idle" } : { name: "fetched", unread };
    if (partition.problem && partition.position > partition.problem.position) partition.problem = undefined;
  } catch (error) {
    stop(member, partition, (error as Error).message);
  }
  member.events.emit("change");
  // The position moves also behind records that are not delivered: those of aborted transactions, and control records.
  member.advance();
}

/** Reads while there is room, up to the size of a turn. True if nothing is left to read. */
async function readSome(partitions: Partitions, partition: Partition, { groups }: Unread): Promise<boolean> {
  for (let bytes = 0; bytes < turnBytes && hasRoom(partitions, partition); ) {
    const group = await groups.next();
    if (group.done) return true;
    bytes += group.value;
  }
  return false;
}

/** Its partition waits, and the others go on. */
function stop(member: Member, partition: Partition, reason: string): void {
  if (partition.problem?.reason !== reason) member.warn(reason);
  partition.problem = { reason, position: partition.position };
  partition.phase = { name: "stopped" };
  setTimeout(() => {
    partition.phase = { name: "idle" };
    member.advance();
  }, stoppedMs).unref();
}

/** Ends the reading into a partition that another process takes over. */
export function endReading({ phase }: Partition): void {
  phase.unread?.groups.return();
}
