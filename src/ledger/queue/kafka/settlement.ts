import { offsetCommitV8 } from "@platformatic/kafka";
import type { ReceivedMessage } from "../queue.ts";
import type { Member } from "./member.ts";
import { acknowledgedUpTo } from "./partition.ts";

export type InFlight = ReturnType<typeof inFlight>[number];

/** The messages of these deliveries. Those of an earlier assignment of their partition are delivered again, to its receiver. */
export function inFlight(member: Member | undefined, received: ReceivedMessage[]) {
  const partitions = [...(member?.partitions.values() ?? [])];
  return received.flatMap(({ receipt }) => {
    const partition = partitions.find(({ unacknowledged }) => unacknowledged.has(receipt));
    const message = partition?.unacknowledged.get(receipt);
    return partition && message ? [{ partition, message }] : [];
  });
}

/**
 * Commits the offsets up to which all messages are acknowledged, if they have changed. The metadata of each is the id of its
 * topic: a topic that is created again has the name of the former one. The client's own commit has no metadata.
 */
export async function commitAcknowledged({ partitions, consumer }: Member): Promise<void> {
  const changed = [...partitions.values()].flatMap((partition) => {
    const offset = acknowledgedUpTo(partition);
    return offset > partition.committed ? [{ partition, offset }] : [];
  });
  if (changed.length === 0) return;
  // Before each wait: a commit of an earlier generation is rejected, since the partitions can have another owner.
  const { groupId, generationId, memberId } = consumer;
  const coordinator = consumer.currentMetadata?.brokers.get(consumer.coordinatorId ?? -1);
  if (!consumer.isActive() || !coordinator) throw new Error("this process is joining its group");
  const offsets = [...Map.groupBy(changed, ({ partition }) => partition.topic)].map(([name, ofTopic]) => ({
    name,
    partitions: ofTopic.map(({ partition: { index, topicId }, offset }) => ({
      ...{ partitionIndex: index, committedOffset: offset, committedLeaderEpoch: -1 },
      committedMetadata: topicId,
    })),
  }));
  const connection = await consumer.connections.get(coordinator);
  await offsetCommitV8.api.async(connection, groupId, generationId, memberId ?? "", null, offsets);
  for (const { partition, offset } of changed) partition.committed = offset;
}
