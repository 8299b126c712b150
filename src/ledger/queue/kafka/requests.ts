import { type Broker, type Consumer, FetchIsolationLevels, offsetCommitV8 } from "@platformatic/kafka";
import { type FetchedPartition, fetchBatches } from "./fetch.ts";
import type { Partition } from "./partition.ts";

/** A broker holds a request for this time while no message arrives. */
const fetchWaitMs = 500;
const fetchBytes = 2 ** 20;

/**
 * Fetches from a broker what follows in these partitions. Waits for up to 500 milliseconds for the first message. A response
 * has up to 1 MiB, or one batch that is larger. The client's own fetch drops committed messages between aborted ones, and
 * returns aborted ones.
 */
export async function fetchFrom(
  fetcher: Consumer,
  broker: Broker,
  partitions: Partition[],
): Promise<FetchedPartition[]> {
  // In turn: the first ones can fill the response each time.
  const inTurn = partitions.toSorted((one, other) => one.arrivedAt - other.arrivedAt);
  const topics = inTurn.map(({ topicId, index, position }) => {
    const epochs = { currentLeaderEpoch: -1, lastFetchedEpoch: -1 };
    const from = { partition: index, fetchOffset: position, partitionMaxBytes: fetchBytes };
    return { topicId, partitions: [{ ...from, ...epochs }] };
  });
  const connection = await fetcher.connections.get(broker);
  const [minBytes, isolation] = [1, FetchIsolationLevels.READ_COMMITTED];
  const limits = [fetchWaitMs, minBytes, fetchBytes, isolation] as const;
  return fetchBatches.async(connection, ...limits, ...noSession, topics, [], "");
}

/** The id and the epoch of a request that names all its partitions. */
const noSession = [0, -1] as const;

/**
 * Commits offsets for the group of a member. The metadata of each is the id of its topic: a topic that is created again
 * has the name of the former one. The client's own commit has no metadata.
 */
export async function commitOffsets(
  member: Consumer,
  commits: { partition: Partition; offset: bigint }[],
): Promise<void> {
  // Before each wait: a commit of an earlier generation is rejected, since the partitions can have another owner.
  const { groupId, generationId, memberId } = member;
  const coordinator = member.currentMetadata?.brokers.get(member.coordinatorId ?? -1);
  if (!member.isActive() || !coordinator) throw new Error("this process is joining its group");
  const offsets = [...Map.groupBy(commits, ({ partition }) => partition.topic)].map(([name, ofTopic]) => ({
    name,
    partitions: ofTopic.map(({ partition: { index, topicId }, offset }) => ({
      ...{ partitionIndex: index, committedOffset: offset, committedLeaderEpoch: -1 },
      committedMetadata: topicId,
    })),
  }));
  const connection = await member.connections.get(coordinator);
  await offsetCommitV8.api.async(connection, groupId, generationId, memberId ?? "", null, offsets);
}
