import { eachEntry } from "./batch.ts";
import { account, type Caller, type Operation, type Output, type ServedQueue } from "./operation.ts";
import { type Input, optionalNumber, optionalText, requiredText } from "./protocol/input.ts";
import { missing, SqsError } from "./protocol/sqs-error.ts";
import {
  attributeOf,
  isSettable,
  readQueueAttributes,
  reportAttributes,
  setAttributes,
  visibilitySecondsMax,
} from "./queue-attributes.ts";
import { readReceipt } from "./receipt.ts";
import { receiveMessage } from "./receive.ts";
import { sendMessage, sendMessageBatch } from "./send.ts";

/** The operations of Amazon SQS that the one queue has. */
const operations: Record<string, Operation> = {
  CreateQueue: createQueue,
  GetQueueUrl(queue, input, { host }) {
    if (requiredText(input, "QueueName") !== queue.name) throw noQueue();
    return { QueueUrl: urlOf(queue, host) };
  },
  ListQueues(queue, input, { host }) {
    optionalNumber(input, "MaxResults", 1, 1000);
    const isListed = queue.name.startsWith(optionalText(input, "QueueNamePrefix") ?? "");
    return { QueueUrls: isListed ? [urlOf(queue, host)] : [] };
  },
  GetQueueAttributes: onQueue(({ name, messages }, input, { region }) => ({
    Attributes: reportAttributes(messages, input, `arn:aws:sqs:${region}:${account}:${name}`),
  })),
  SetQueueAttributes: onQueue(async ({ messages, commit }, input) => {
    const attributes = readQueueAttributes(input);
    await commit(() => setAttributes(messages, attributes));
    return {};
  }),
  PurgeQueue: onQueue(async ({ messages, commit, clean }) => {
    const isFirst = await commit(() => messages.purge());
    clean();
    if (!isFirst)
      throw new SqsError("PurgeQueueInProgress", "Messages of an earlier purge are being removed.");
    return {};
  }),
  SendMessage: onQueue(sendMessage),
  SendMessageBatch: onQueue(sendMessageBatch),
  ReceiveMessage: onQueue(receiveMessage),
  DeleteMessage: onQueue(async ({ messages, commit }, input) => {
    const receipt = readReceipt(input);
    await commit(() => messages.remove(receipt));
    return {};
  }),
  DeleteMessageBatch: onQueue(({ messages, commit }, input) =>
    eachEntry(input, readReceipt, (receipts) =>
      commit(() => receipts.map((receipt) => messages.remove(receipt) ?? {})),
    ),
  ),
  ChangeMessageVisibility: onQueue(async ({ messages, commit, waits }, input) => {
    const { receipt, hiddenMs } = readVisibility(input);
    if (!(await commit(() => messages.hide(receipt, hiddenMs)))) throw notInFlight();
    if (hiddenMs === 0) waits.wake(1);
    return {};
  }),
  ChangeMessageVisibilityBatch: onQueue(({ messages, commit, waits }, input) =>
    eachEntry(input, readVisibility, async (changes) => {
      const results = await commit(() =>
        changes.map(({ receipt, hiddenMs }) => (messages.hide(receipt, hiddenMs) ? {} : notInFlight())),
      );
      waits.wake(changes.filter(({ hiddenMs }) => hiddenMs === 0).length);
      return results;
    }),
  ),
};

/** The operation with this name. Throws an `SqsError` if there is none. */
export function operationOf(name: string): Operation {
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (operation) return operation;
  if (!unsupported.has(name)) {
    throw new SqsError("InvalidAction", `The action ${name.slice(0, 100)} is not valid for this endpoint.`);
  }
  throw new SqsError("UnsupportedOperation", `This server does not have the operation ${name}.`);
}

const unsupported = new Set([
  "DeleteQueue",
  "AddPermission",
  "RemovePermission",
  "TagQueue",
  "UntagQueue",
  "ListQueueTags",
  "ListDeadLetterSourceQueues",
  "StartMessageMoveTask",
  "CancelMessageMoveTask",
  "ListMessageMoveTasks",
]);

/** Longer than any URL of the queue. */
const urlMax = 1000;
const urlOf = ({ name }: ServedQueue, host: string) => `http://${host}/${account}/${name}`;

const noQueue = () => new SqsError("QueueDoesNotExist", "The specified queue does not exist.");

/** An operation on the queue that the last part of `QueueUrl` names, whatever its host and account are. */
function onQueue(operation: Operation): Operation {
  return (queue, input, caller) => {
    const url = requiredText(input, "QueueUrl");
    if (url.length > urlMax || url.split("/").findLast(Boolean) !== queue.name) throw noQueue();
    return operation(queue, input, caller);
  };
}

/** Creates nothing, since the queue exists. An attribute that nobody has set is set, another must be equal. Ignores tags. */
async function createQueue(queue: ServedQueue, input: Input, { host }: Caller): Promise<Output> {
  const { messages, commit, name } = queue;
  if (requiredText(input, "QueueName") !== name) {
    const reason = `This server has one queue, ${name}, and cannot create another.`;
    throw new SqsError("UnsupportedOperation", reason);
  }
  const attributes = readQueueAttributes(input);
  const different = attributes.find(([attribute, value]) => {
    const present = attributeOf(messages, attribute);
    return present !== undefined && value !== "" && Number(value) !== present;
  });
  if (different) {
    const reason = `A queue already exists with the same name and a different value for attribute ${different[0]}`;
    throw new SqsError("QueueNameExists", reason);
  }
  const unset = attributes.filter(
    ([attribute]) => isSettable(attribute) && attributeOf(messages, attribute) === undefined,
  );
  if (unset.length > 0) await commit(() => setAttributes(messages, unset));
  return { QueueUrl: urlOf(queue, host) };
}

function readVisibility(input: Input) {
  const receipt = readReceipt(input);
  const seconds = optionalNumber(input, "VisibilityTimeout", 0, visibilitySecondsMax);
  if (seconds === undefined) throw missing("VisibilityTimeout");
  return { receipt, hiddenMs: seconds * 1000 };
}

const notInFlight = () =>
  new SqsError(
    "MessageNotInflight",
    "Message does not exist or is not available for visibility timeout change.",
  );
