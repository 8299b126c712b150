import { hash } from "node:crypto";
import { isObject } from "../../../../values/json.ts";
import type { AttributeValue, MessageAttributes, NewMessage } from "./messages.ts";
import { entriesOf, type Input, optionalNumber, optionalText, requiredText } from "./protocol/input.ts";
import { invalidValue, SqsError } from "./protocol/sqs-error.ts";

/** The rules of Amazon SQS for a message, and its digests. */

export const delaySecondsMax = 900;
export const messageBytesMax = 2 ** 20;
const attributesMax = 10;
const nameMax = 256;
const groupMax = 128;

const notAllowed = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const attributeName = /^(?!\.|.*\.\.|.*\.$|aws\.|amazon\.)[\w.-]+$/i;
const attributeType = /^(String|Number|Binary)(\..+)?$/;
const base64 = /^[A-Za-z\d+/]*={0,2}$/;

function requireAllowed(text: string): void {
  if (!notAllowed.test(text)) return;
  throw new SqsError(
    "InvalidMessageContents",
    "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF.",
  );
}

const bytesOf = ({ StringValue, BinaryValue }: AttributeValue) =>
  StringValue === undefined ? Buffer.from(BinaryValue ?? "", "base64") : Buffer.from(StringValue);

/** The size of a message with its attributes, in bytes. */
export const sizeOf = ({ body, attributes = {} }: NewMessage) =>
  Object.entries(attributes).reduce(
    (sum, [name, value]) =>
      sum + Buffer.byteLength(name) + Buffer.byteLength(value.DataType) + bytesOf(value).length,
    Buffer.byteLength(body),
  );

/** The message. Throws an `SqsError` if it is larger. */
export function requireSize(message: NewMessage, bytesMax: number): NewMessage {
  if (sizeOf(message) <= bytesMax) return message;
  throw new SqsError(
    "InvalidParameterValue",
    `One or more parameters are invalid. Reason: Message must be shorter than ${bytesMax} bytes.`,
  );
}

/** The message of a request to send one, whatever its size. Throws an `SqsError`. */
export function readMessage(input: Input, defaultDelaySeconds: number): NewMessage {
  const body = requiredText(input, "MessageBody");
  requireAllowed(body);
  if (optionalText(input, "MessageDeduplicationId") !== undefined) {
    throw invalidValue("MessageDeduplicationId", "", "This queue is not a FIFO queue");
  }
  const delaySeconds = optionalNumber(input, "DelaySeconds", 0, delaySecondsMax);
  return {
    body,
    delayMs: (delaySeconds ?? defaultDelaySeconds) * 1000,
    attributes: readAttributes(input, "MessageAttributes"),
    systemAttributes: readSystemAttributes(input),
  };
}

/** The trace of a sender and the group of a fair queue are kept and delivered. */
function readSystemAttributes(input: Input): Record<string, string> {
  const trace = readAttributes(input, "MessageSystemAttributes");
  const unknown = Object.keys(trace).find((name) => name !== "AWSTraceHeader");
  if (unknown !== undefined) throw invalidValue("MessageSystemAttributes", unknown, "It is not supported");
  const group = optionalText(input, "MessageGroupId");
  if (group !== undefined && !(/^[!-~]+$/.test(group) && group.length <= groupMax)) {
    throw invalidValue("MessageGroupId", group, `Must have 1 to ${groupMax} printable ASCII characters`);
  }
  const header = trace.AWSTraceHeader?.StringValue;
  return {
    ...(header !== undefined && { AWSTraceHeader: header }),
    ...(group !== undefined && { MessageGroupId: group }),
  };
}

/** The attributes in a member of a request. Throws an `SqsError` if one is invalid. */
export function readAttributes(input: Input, member: string): MessageAttributes {
  const entries = entriesOf(input, member, isObject);
  if (entries.length > attributesMax) {
    throw new SqsError(
      "InvalidParameterValue",
      `Number of message attributes [${entries.length}] exceeds the allowed maximum [${attributesMax}].`,
    );
  }
  return Object.fromEntries(entries.map(([name, value]) => [name, readAttribute(name, value)]));
}

function readAttribute(name: string, value: Input): AttributeValue {
  const invalid = (reason: string) => invalidValue("MessageAttributes", name, reason);
  if (!attributeName.test(name) || name.length > nameMax) throw invalid("The name is not allowed");
  const DataType = optionalText(value, "DataType") ?? "";
  const type = attributeType.exec(DataType)?.[1];
  if (type === undefined || DataType.length > nameMax) {
    throw invalid("The type must be String, Number or Binary, with a label after a dot");
  }
  if (type === "Binary") {
    const BinaryValue = optionalText(value, "BinaryValue");
    if (!BinaryValue || !base64.test(BinaryValue)) throw invalid("The binary value must be base64");
    return { DataType, BinaryValue };
  }
  const StringValue = optionalText(value, "StringValue");
  if (!StringValue) throw invalid("The value must not be empty");
  requireAllowed(StringValue);
  if (type === "Number" && !/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(StringValue)) {
    throw invalid("The value must be a number");
  }
  return { DataType, StringValue };
}

export const digestOf = (body: string) => hash("md5", body);

/** Undefined without attributes. */
export function digestOfAttributes(attributes: MessageAttributes): string | undefined {
  const names = Object.keys(attributes).sort();
  if (names.length === 0) return undefined;
  const parts = names.flatMap((name) => {
    const value = attributes[name] as AttributeValue;
    const kind = Buffer.from([value.StringValue === undefined ? 2 : 1]);
    return [
      ...withLength(Buffer.from(name)),
      ...withLength(Buffer.from(value.DataType)),
      kind,
      ...withLength(bytesOf(value)),
    ];
  });
  return hash("md5", Buffer.concat(parts));
}

/** The member of a response with this name for the digest, if there are attributes. */
export function withDigest(name: string, attributes: MessageAttributes): Record<string, string> {
  const digest = digestOfAttributes(attributes);
  return digest === undefined ? {} : { [name]: digest };
}

function withLength(bytes: Buffer): [length: Buffer, bytes: Buffer] {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return [length, bytes];
}
