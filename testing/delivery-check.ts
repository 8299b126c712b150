import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Message } from "amqplib";
import { parse } from "yaml";
import { ledgerContract } from "../src/contract/contracts.ts";
import { type Contract, follow, type Parameter } from "../src/contract/operations.ts";
import { bodyViolation, closeObjects, mediaTypeOf } from "../src/contract/response-check.ts";
import { contractCompiler } from "../src/contract/validation.ts";
import { parseJson } from "../src/values/json.ts";
import { eventsIn } from "./event-stream.ts";
import { root } from "./project.ts";

interface Webhook {
  post: { parameters: Parameter[]; requestBody: { content: Record<string, { schema: object }> } };
}

const closed = closeObjects(ledgerContract);
const compile = contractCompiler(closed);
const { eventStored } = closed["x-webhooks"] as { eventStored: Webhook };
const { parameters, requestBody } = eventStored.post;

/** Headers of any request with a body. */
const impliedHeaders = ["connection", "content-length", "content-type", "host", "user-agent"];
const knownHeaders = new Set([...impliedHeaders, ...parameters.map(({ name }) => name)]);

/** How a request to a webhook violates the contract of the ledger. Undefined if it conforms. Header names are in lower case. */
export function deliveryViolation(headers: Record<string, unknown>, body: string): string | undefined {
  for (const { name, required, schema } of parameters) {
    const value = headers[name];
    if (value === undefined ? required : !conforms(schema, String(value)))
      return `the header ${name} is ${value}`;
  }
  const undeclared = Object.keys(headers).find((name) => !knownHeaders.has(name));
  if (undeclared !== undefined) return `the header ${undeclared} is not declared`;
  const type = mediaTypeOf(headers);
  const content = requestBody.content[type];
  if (!content) return `the media type ${type} is not declared`;
  return bodyViolation(compile(content.schema), parseJson(body));
}

const conforms = (schema: Parameter["schema"], text: string) =>
  compile(schema)(schema.type === "integer" ? Number(text) : text);

/** A message of the contract of the queue and of what is sent. */
interface SentMessage {
  contentType: string;
  headers?: object;
  payload: object;
}

interface Sending {
  channel: object;
  bindings?: { amqp: { deliveryMode: number; timestamp: boolean } };
}

const sent = closeObjects(
  parse(readFileSync(join(root, "generated/payment-events.asyncapi.yaml"), "utf8")),
) as Contract & { operations: Record<string, Sending> };
const compileSent = contractCompiler(sent);

function sendingOf(operationId: string) {
  const operation = sent.operations[operationId] as Sending;
  const channel = follow(sent, operation.channel) as { address: string; messages: Record<string, object> };
  const messages = Object.values(channel.messages).map((message) => follow(sent, message) as SentMessage);
  return { ...operation, address: channel.address, messages };
}

/** What arrives of an event. Header names are those of the contract. */
interface Arrival {
  headers?: Record<string, unknown>;
  /** Default: it arrives without one. */
  contentType?: string;
  body: string;
}

/** How what arrives violates the operation that sends it. Undefined if it conforms to exactly one of the messages. */
export function sentViolation(operationId: string, arrival: Arrival): string | undefined {
  const violations = sendingOf(operationId).messages.map((message) => messageViolation(message, arrival));
  const conforming = violations.filter((violation) => violation === undefined).length;
  if (conforming === 1) return undefined;
  return conforming > 1 ? "it conforms to several messages" : violations.join("; or ");
}

function messageViolation(message: SentMessage, { headers = {}, contentType, body }: Arrival) {
  if (contentType !== undefined && contentType !== message.contentType)
    return `the media type is ${contentType} instead of ${message.contentType}`;
  const undeclared = Object.keys(headers).length > 0 && !message.headers;
  if (undeclared) return "headers are not declared";
  const ofHeaders = message.headers && bodyViolation(compileSent(message.headers), headers, "headers");
  return ofHeaders ?? bodyViolation(compileSent(message.payload), parseJson(body));
}

/** How a message of an exchange violates the contract. */
export function exchangeViolation({ content, fields, properties }: Message): string | undefined {
  const { bindings, address } = sendingOf("publishToExchange");
  const { messageId, contentType, deliveryMode, timestamp } = properties;
  const body = content.toString();
  // A queue adds headers of its own, such as x-delivery-count.
  const own = Object.entries(properties.headers ?? {}).filter(([name]) => !name.startsWith("x-"));
  const headers = { ...Object.fromEntries(own), ...(messageId !== undefined && { "message-id": messageId }) };
  const violation = sentViolation("publishToExchange", { headers, contentType: String(contentType), body });
  if (violation) return violation;
  const { data, ...event } = parseJson(body) as Record<string, unknown>;
  const members = (data ?? event) as Record<string, string>;
  const routingKey = address.replaceAll(/\{(\w+)\}/g, (_, name) => String(members[name]));
  if (fields.routingKey !== routingKey)
    return `the routing key is ${fields.routingKey} instead of ${routingKey}`;
  if (deliveryMode !== bindings?.amqp.deliveryMode) return `the delivery mode is ${deliveryMode}`;
  return Number.isInteger(timestamp) === bindings?.amqp.timestamp
    ? undefined
    : `the timestamp is ${timestamp}`;
}

/** How the text of the feed in one of its forms violates the contract. */
export function feedViolation(contentType: string, text: string): string | undefined {
  const items: Arrival[] =
    contentType === "text/event-stream"
      ? eventsIn(text).map(({ id, data }) => ({ headers: { id }, body: JSON.stringify(data) }))
      : linesOf(text).map((body) => ({ body }));
  return firstViolation(
    "sendFeed",
    items.map((item) => ({ ...item, contentType })),
  );
}

/** How the lines of a file violate the contract. */
export const fileViolation = (text: string) =>
  firstViolation(
    "appendToFile",
    linesOf(text).map((body) => ({ body })),
  );

/** The lines of a text that ends with a line feed. */
export const linesOf = (text: string): string[] => text.split("\n").slice(0, -1);

const firstViolation = (operationId: string, arrivals: Arrival[]) =>
  arrivals.map((arrival) => sentViolation(operationId, arrival)).find((violation) => violation !== undefined);
