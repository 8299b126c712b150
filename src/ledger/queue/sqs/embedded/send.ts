import { eachEntry, resultOf } from "./batch.ts";
import { diskIsFull } from "./group-commit.ts";
import {
  digestOf,
  messageBytesMax,
  readAttributes,
  readMessage,
  requireSize,
  sizeOf,
  withDigest,
} from "./message-rules.ts";
import type { NewMessage } from "./messages.ts";
import type { Output, ServedQueue } from "./operation.ts";
import type { Input } from "./protocol/input.ts";
import { SqsError, unavailable } from "./protocol/sqs-error.ts";
import { delayOf, limitOf } from "./queue-attributes.ts";

/** Appends messages and wakes receivers. Returns their ids. */
async function append(queue: ServedQueue, newMessages: NewMessage[]): Promise<string[]> {
  const { messages, commit, waits } = queue;
  const bytes = newMessages.reduce((sum, message) => sum + sizeOf(message), 0);
  if (!queue.hasSpaceFor(bytes)) throw unavailable(diskIsFull);
  const ids = await commit(() => newMessages.map((message) => messages.append(message)));
  waits.wake(newMessages.filter(({ delayMs }) => !delayMs).length);
  return ids;
}

export async function sendMessage(queue: ServedQueue, input: Input): Promise<Output> {
  const message = requireSize(readMessage(input, delayOf(queue.messages)), limitOf(queue.messages));
  const [id] = await append(queue, [message]);
  return sentMessage(message, id, input);
}

function sentMessage({ body, attributes = {} }: NewMessage, id: string | undefined, input: Input): Output {
  return {
    MessageId: id,
    MD5OfMessageBody: digestOf(body),
    ...withDigest("MD5OfMessageAttributes", attributes),
    ...withDigest("MD5OfMessageSystemAttributes", readAttributes(input, "MessageSystemAttributes")),
  };
}

export async function sendMessageBatch(queue: ServedQueue, input: Input): Promise<Output> {
  const [delay, limit] = [delayOf(queue.messages), limitOf(queue.messages)];
  const read = (entry: Input) => ({ entry, message: readMessage(entry, delay) });
  return eachEntry(input, read, async (sent) => {
    const total = sent.reduce((sum, { message }) => sum + sizeOf(message), 0);
    if (total > messageBytesMax) {
      const reason = `Batch requests cannot be longer than ${messageBytesMax} bytes. You have sent ${total} bytes.`;
      throw new SqsError("BatchRequestTooLong", reason);
    }
    const checked = sent.map(({ message }) => resultOf(() => requireSize(message, limit)));
    const accepted = checked.flatMap((one) => (one instanceof SqsError ? [] : [one]));
    const ids = accepted.length > 0 ? await append(queue, accepted) : [];
    return checked.map((message, index) =>
      message instanceof SqsError ? message : sentMessage(message, ids.shift(), sent[index]?.entry ?? {}),
    );
  });
}
