import { digestOf, withDigest } from "./message-rules.ts";
import type { StoredMessage } from "./messages.ts";
import { account, type Caller, type Output, type ServedQueue } from "./operation.ts";
import { type Input, optionalNumber, texts, valuesOf, wantedNames } from "./protocol/input.ts";
import { attributeOf, visibilitySecondsMax, waitSecondsMax } from "./queue-attributes.ts";
import { receiptHandleOf } from "./receipt.ts";

export async function receiveMessage(queue: ServedQueue, input: Input, caller: Caller): Promise<Output> {
  const { messages, commit, waits } = queue;
  const secondsIn = (name: string, secondsMax: number, attribute: string) =>
    optionalNumber(input, name, 0, secondsMax) ?? attributeOf(messages, attribute) ?? 0;
  const max = optionalNumber(input, "MaxNumberOfMessages", 1, 10) ?? 1;
  const hiddenSeconds = secondsIn("VisibilityTimeout", visibilitySecondsMax, "VisibilityTimeout");
  const waitSeconds = secondsIn("WaitTimeSeconds", waitSecondsMax, "ReceiveMessageWaitTimeSeconds");
  const present = presenter(input);
  const deliver = () => {
    if (caller.signal.aborted || !caller.mayDeliver()) return [];
    const received = messages.receive(max, hiddenSeconds * 1000);
    caller.deliver(received.reduce((sum, { body }) => sum + body.length, 0));
    return received;
  };
  const end = performance.now() + waitSeconds * 1000;
  for (;;) {
    const received = messages.mayReceive() ? await commit(deliver) : [];
    const leftMs = end - performance.now();
    if (received.length > 0) return { Messages: received.map(present) };
    if (leftMs <= 0 || caller.signal.aborted) return {};
    await waits.wait(leftMs, caller.signal);
  }
}

const systemNames = [
  "SenderId",
  "SentTimestamp",
  "ApproximateReceiveCount",
  "ApproximateFirstReceiveTimestamp",
  "AWSTraceHeader",
  "MessageGroupId",
];
/** Messages of this queue do not have them. */
const otherSystemNames = ["SequenceNumber", "MessageDeduplicationId", "DeadLetterQueueSourceArn"];

/** Makes the member of a response for a message, with the attributes that the request names. */
function presenter(input: Input): (message: StoredMessage) => Output {
  const names = [...texts(input, "AttributeNames"), ...texts(input, "MessageSystemAttributeNames")];
  const wanted = wantedNames(names, systemNames, otherSystemNames);
  const patterns = texts(input, "MessageAttributeNames");
  const isWanted = (name: string) =>
    patterns.some((pattern) =>
      pattern.endsWith("*")
        ? name.startsWith(pattern.replace(/\.?\*$/, ""))
        : [name, "All"].includes(pattern),
    );
  return (message) => {
    const system = valuesOf(wanted, {
      SenderId: account,
      SentTimestamp: String(message.sentAt),
      ApproximateReceiveCount: String(message.received),
      ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt),
      ...message.systemAttributes,
    });
    const attributes = Object.entries(message.attributes).filter(([name]) => isWanted(name));
    const MessageAttributes = Object.fromEntries(attributes);
    return {
      MessageId: message.id,
      ReceiptHandle: receiptHandleOf(message),
      MD5OfBody: digestOf(message.body),
      Body: message.body,
      ...(Object.keys(system).length > 0 && { Attributes: system }),
      ...withDigest("MD5OfMessageAttributes", MessageAttributes),
      ...(attributes.length > 0 && { MessageAttributes }),
    };
  };
}
