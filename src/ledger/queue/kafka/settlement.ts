import type { ReceivedMessage } from "../queue.ts";
import type { Member } from "./member.ts";
import type { Message } from "./message.ts";
import { acknowledgedUpTo, type Partition } from "./partition.ts";
import { commitOffsets } from "./requests.ts";

export interface InFlight {
  partition: Partition;
  message: Message;
}

/** The messages of these deliveries. Those of an earlier assignment of their partition are delivered again, to its receiver. */
export function inFlight(member: Member | undefined, received: ReceivedMessage[]): InFlight[] {
  const partitions = [...(member?.partitions.values() ?? [])];
  return received.flatMap(({ receipt }) => {
    const partition = partitions.find(({ unacknowledged }) => unacknowledged.has(receipt));
    const message = partition?.unacknowledged.get(receipt);
    return partition && message ? [{ partition, message }] : [];
  });
}

/** Commits the offsets up to which all messages are acknowledged, if they have changed. */
export async function commitAcknowledged({ partitions, consumer }: Member): Promise<void> {
  const changed = [...partitions.values()].flatMap((partition) => {
    const offset = acknowledgedUpTo(partition);
    return offset > partition.committed ? [{ partition, offset }] : [];
  });
  if (changed.length === 0) return;
  await commitOffsets(consumer, changed);
  for (const { partition, offset } of changed) partition.committed = offset;
}
