import type { Broker, ClusterMetadata } from "@platformatic/kafka";
import { fetchFrom } from "./fetch.ts";
import { type Member, pause, recordFailure } from "./member.ts";
import { newPartition, type Partition } from "./partition.ts";
import { addFetched, wantedOf } from "./reading.ts";
import { allTopics, isOf, keyOf, listOffsets } from "./topics.ts";

/**
 * Begins a fetch from each broker that leads partitions with room, and has no fetch of this member. Its end begins the next
 * round. Rejects if the brokers do not say who leads the partitions.
 */
export async function fetchRound(member: Member): Promise<void> {
  const { partitions, fetcher, topics, busy, failures } = member;
  if (wantedOf(partitions).length === 0) return;
  const metadata = await fetcher.metadata({ topics: allTopics(topics), retries: 2 });
  const found = metadata.topics;
  // The offsets of a topic that was created again are those of other messages, also in the partitions of other members.
  if ([...partitions.values()].some(({ topic, topicId }) => found.get(topic)?.id !== topicId)) {
    member.onLost();
    return;
  }
  joinForNewPartitions(member, metadata);
  const leaderOf = ({ topic, index }: Partition) => found.get(topic)?.partitions[index]?.leader ?? -1;
  const leaders = new Set([...partitions.values()].map(leaderOf));
  for (const key of failures.keys()) if (typeof key === "number" && !leaders.has(key)) failures.delete(key);
  for (const [node, led] of Map.groupBy(wantedOf(partitions), leaderOf)) {
    if (!busy.has(node)) void fetchInto(member, node, metadata.brokers.get(node), led);
  }
}

/** New partitions are assigned when the leader of the group joins again. */
function joinForNewPartitions(member: Member, { topics }: ClusterMetadata): void {
  const count = topics.values().reduce((sum, { partitionsCount }) => sum + partitionsCount, 0);
  if (count > (member.partitionCount ?? count)) {
    member.consumer.clearMetadata();
    member.join();
  }
  member.partitionCount = count;
}

/** Fetches from a broker into the partitions that it leads. */
async function fetchInto(member: Member, node: number, broker: Broker | undefined, led: Partition[]) {
  const { fetcher, failures, busy } = member;
  busy.add(node);
  try {
    if (!broker) throw new Error("a partition has no leader");
    const fetched = await fetchFrom(fetcher, broker, led);
    failures.delete(node);
    await Promise.all(
      fetched.map(async (each) => {
        const partition = presentOf(member, led, each);
        if (partition) await addFetched(member, partition, each);
      }),
    );
  } catch (error) {
    recordFailure(member, node, error);
    fetcher.clearMetadata();
    if (isOf(error, "OFFSET_OUT_OF_RANGE")) await beginAgain(member, led).catch(() => {});
    await pause(member);
  }
  busy.delete(node);
  member.advance();
}

/** The partition of a response. Undefined if another process may have it by now. */
function presentOf(
  { partitions }: Member,
  led: Partition[],
  { topicId, index }: Pick<Partition, "topicId" | "index">,
): Partition | undefined {
  const isPresent = (each: Partition) => partitions.get(keyOf(each.topic, index)) === each;
  return led.find((each) => each.topicId === topicId && each.index === index && isPresent(each));
}

/** Continues with the first message that the topic has: those before it are gone, or the brokers have lost those at its end. */
async function beginAgain(member: Member, led: Partition[]): Promise<void> {
  const { admin, topics, partitions } = member;
  for (const offsets of await listOffsets(admin, topics)) {
    const partition = presentOf(member, led, offsets);
    if (!partition) continue;
    if (partition.position < offsets.first) {
      partition.position = offsets.first;
      partition.problem = undefined;
    }
    if (partition.position > offsets.end)
      partitions.set(keyOf(offsets.topic, offsets.index), newPartition(offsets, topics));
  }
}
