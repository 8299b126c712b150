import { delaySecondsMax, messageBytesMax } from "./message-rules.ts";
import type { Messages } from "./messages.ts";
import { entriesOf, type Input, texts, valuesOf, wantedNames } from "./protocol/input.ts";
import { SqsError, unknownAttribute } from "./protocol/sqs-error.ts";

export const visibilitySecondsMax = 43_200;
export const waitSecondsMax = 20;

interface Attribute {
  min: number;
  max: number;
  /** Default: the attribute has no effect and is not reported. */
  default?: string;
}

/** The attributes that can be set. */
const settable: Record<string, Attribute> = {
  VisibilityTimeout: { min: 0, max: visibilitySecondsMax, default: "30" },
  DelaySeconds: { min: 0, max: delaySecondsMax, default: "0" },
  MaximumMessageSize: { min: 1024, max: messageBytesMax, default: String(messageBytesMax) },
  /** Without it messages do not expire: nothing that was accepted is lost. */
  MessageRetentionPeriod: { min: 60, max: 1_209_600 },
  ReceiveMessageWaitTimeSeconds: { min: 0, max: waitSecondsMax, default: "0" },
};

/** Attributes of Amazon SQS that this queue does not have. */
const unsupported = [
  "Policy",
  "RedrivePolicy",
  "RedriveAllowPolicy",
  "KmsMasterKeyId",
  "KmsDataKeyReusePeriodSeconds",
  "SqsManagedSseEnabled",
  "FifoQueue",
  "ContentBasedDeduplication",
  "DeduplicationScope",
  "FifoThroughputLimit",
];

/** The value of an attribute that can be set, as a number. Undefined if it has neither a value nor a default. */
export const attributeOf = (messages: Messages, name: string): number | undefined => {
  const value = messages.setting(name) ?? settable[name]?.default;
  return value === undefined ? undefined : Number(value);
};

/** The default delay of a message, in seconds, and the limit for its size, in bytes. */
export const delayOf = (messages: Messages) => attributeOf(messages, "DelaySeconds") ?? 0;
export const limitOf = (messages: Messages) => attributeOf(messages, "MaximumMessageSize") ?? messageBytesMax;

export const isSettable = (name: string) => Object.hasOwn(settable, name);

/** The attributes in a request. Throws an `SqsError` that names the first one which is invalid or not supported. */
export function readQueueAttributes(input: Input): [name: string, value: string][] {
  const entries = entriesOf(input, "Attributes", (value) => typeof value === "string");
  return entries.filter(([name, value]) => {
    if (isSettable(name)) {
      requireInRange(name, value, settable[name] as Attribute);
      return true;
    }
    if (!unsupported.includes(name)) throw unknownAttribute(name);
    // These say what is so.
    if (value === "" || value === "false") return false;
    throw new SqsError("InvalidAttributeName", `The attribute ${name} is not supported by this queue.`);
  });
}

/** An empty value stands for the default. */
function requireInRange(name: string, value: string, { min, max }: Attribute): void {
  if (value === "" || (/^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max)) return;
  throw new SqsError(
    "InvalidAttributeValue",
    `Invalid value for the parameter ${name}. Reason: Must be between ${min} and ${max}.`,
  );
}

/** Sets attributes, inside a transaction. */
export function setAttributes(messages: Messages, attributes: [name: string, value: string][]): void {
  for (const [name, value] of attributes) messages.set(name, value === "" ? undefined : value);
  messages.set("LastModifiedTimestamp", String(Math.floor(Date.now() / 1000)));
}

/** The requested attributes that have a value. */
export function reportAttributes(messages: Messages, input: Input, arn: string) {
  const settings = messages.settings();
  const { visible, inFlight, delayed } = messages.counts();
  const values: Record<string, string | undefined> = {
    ...Object.fromEntries(
      Object.entries(settable).map(([name, attribute]) => [name, settings[name] ?? attribute.default]),
    ),
    QueueArn: arn,
    ApproximateNumberOfMessages: String(visible),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    ApproximateNumberOfMessagesDelayed: String(delayed),
    CreatedTimestamp: settings.CreatedTimestamp,
    LastModifiedTimestamp: settings.LastModifiedTimestamp,
  };
  const names = wantedNames(texts(input, "AttributeNames"), Object.keys(values), unsupported);
  return valuesOf(names, values);
}
