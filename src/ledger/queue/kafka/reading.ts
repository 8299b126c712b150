import { letOthersRun } from "../../../waiting/turns.ts";
import { compressionName } from "./compression/pieces.ts";
import type { FetchedPartition } from "./fetch.ts";
import type { Member } from "./member.ts";
import { add, type Partition, type Unread } from "./partition.ts";
import { type Batch, recordsOf } from "./records.ts";

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
export async function addFetched(member: Member, partition: Partition, fetched: FetchedPartition) {
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

/**
 * Adds the messages of one group with each `next`, moves the position behind them, and returns the size of the group in
 * bytes. A broker sends whole batches, also the part before the position, and the batches of aborted transactions. Throws
 * for an operator what stands at the position and cannot be read.
 */
async function* read(
  partition: Partition,
  { batches, abortedTransactions }: FetchedPartition,
): AsyncGenerator<number, void> {
  const aborted = abortedTransactions.toSorted((one, other) => Number(one.firstOffset - other.firstOffset));
  /** The producers in an aborted transaction. A control record ends it. */
  const aborting = new Set<bigint>();
  for (const batch of batches) {
    const { isControl, producerId, nextOffset } = batch;
    for (; aborted[0] && aborted[0].firstOffset < nextOffset; aborted.shift())
      aborting.add(aborted[0].producerId);
    if (isControl) aborting.delete(producerId);
    else if (!aborting.has(producerId)) yield* readMessages(partition, batch);
    if (nextOffset > partition.position) partition.position = nextOffset;
  }
}

async function* readMessages(partition: Partition, batch: Batch): AsyncGenerator<number, void> {
  try {
    for await (const { records, bytes } of recordsOf(batch)) {
      for (const record of records) add(partition, batch, record);
      yield bytes;
      await letOthersRun();
    }
  } catch (error) {
    throw unreadable(partition, batch, error);
  }
}

function unreadable({ topic, index }: Partition, batch: Batch, cause: unknown): Error {
  const { firstOffset, nextOffset, compression } = batch;
  return new Error(
    `topic ${topic}, partition ${index}: the batch at offset ${firstOffset} (${compressionName(compression)}) cannot be ` +
      `read, and all behind it waits: ${(cause as Error).message}. To give it up, delete the records before offset ` +
      `${nextOffset} with kafka-delete-records.sh`,
    { cause },
  );
}
