import { expect, test } from "vitest";
import {
  deliveryViolation,
  exchangeViolation,
  feedViolation,
  fileViolation,
  sentViolation,
} from "./delivery-check.ts";

const event = {
  event_type: "PAYMENT_CREATED",
  resource_type: "payment",
  resource_external_id: "pay1",
  timestamp: "2024-03-05T09:14:22.018000Z",
  event_details: { amount: 100 },
  other: "member",
};
const cloudEvent = {
  ...{ specversion: "1.0", id: "1", source: "/s", type: "X", subject: "payment/pay1", data: event },
  ...{ time: event.timestamp, datacontenttype: "application/json" },
};
const cloudEvents = { "content-type": "application/cloudevents+json" };
const headers = {
  ...{ "content-type": "application/json", "webhook-id": "a-1", "webhook-timestamp": "1709630062" },
  "webhook-signature": `v1,${"A".repeat(43)}=`,
};

test("an event and a CloudEvent conform, also without a signature", () => {
  expect(deliveryViolation(headers, JSON.stringify(event))).toBeUndefined();
  const { "webhook-signature": _, ...unsigned } = { ...headers, ...cloudEvents };
  expect(deliveryViolation(unsigned, JSON.stringify(cloudEvent))).toBeUndefined();
});

test.each([
  [{ "webhook-id": undefined }, event, "the header webhook-id is undefined"],
  [{ "webhook-timestamp": "noon" }, event, "the header webhook-timestamp is noon"],
  [{ "webhook-signature": "v1" }, event, "the header webhook-signature is v1"],
  [{ "x-colour": "red" }, event, "the header x-colour is not declared"],
  [{ "content-type": "text/plain" }, event, "the media type text/plain is not declared"],
  [{}, { ...event, timestamp: "2024-03-05T09:14:22Z" }, "body/timestamp must be in UTC"],
  [{}, { ...event, event_details: undefined }, "body/event_details is required"],
  [cloudEvents, { ...cloudEvent, colour: "red" }, "body/colour is unknown"],
  [cloudEvents, { ...cloudEvent, data: {} }, "body/data/event_type is required"],
])("%j with the body %j does not conform", (change, body, violation) => {
  expect(deliveryViolation({ ...headers, ...change }, JSON.stringify(body))).toContain(violation);
});

const properties = { messageId: "a-1", contentType: "application/json", deliveryMode: 2, timestamp: 0 };
const inExchange = (change: object, routingKey: string, body: object) =>
  exchangeViolation({
    content: Buffer.from(JSON.stringify(body)),
    fields: { routingKey },
    properties: { ...properties, ...change },
  } as never);
const key = "payment.PAYMENT_CREATED";

test("an event and a CloudEvent conform in a topic, an exchange and a file", () => {
  const attributes = { MessageDeduplicationId: "a-1", MessageGroupId: "0".repeat(64) };
  for (const headers of [{}, attributes])
    for (const body of [event, cloudEvent])
      expect(sentViolation("publishToTopic", { headers, body: JSON.stringify(body) })).toBeUndefined();
  expect(inExchange({ headers: { "x-delivery-count": 1 } }, key, event)).toBeUndefined();
  expect(inExchange({ contentType: "application/cloudevents+json" }, key, cloudEvent)).toBeUndefined();
  expect(fileViolation(`${JSON.stringify(event)}\n${JSON.stringify(cloudEvent)}\n`)).toBeUndefined();
});

test.each([
  [{ messageId: undefined }, key, event, "headers/message-id is required"],
  [{ headers: { trace: "t" } }, key, event, "headers/trace is unknown"],
  [{ contentType: "text/plain" }, key, event, "the media type is text/plain instead of application/json"],
  [{ deliveryMode: 1 }, key, event, "the delivery mode is 1"],
  [{ timestamp: undefined }, key, event, "the timestamp is undefined"],
  [{}, "payment", event, `the routing key is payment instead of ${key}`],
  [{}, key, cloudEvent, "body/event_type is required"],
  [{}, key, { ...event, live: "true" }, "body/live"],
])("%j of an exchange with the routing key %s and the body %j does not conform", (...parts) => {
  const [change, routingKey, body, violation] = parts;
  expect(inExchange(change, routingKey, body)).toContain(violation);
});

test.each([
  [{ MessageGroupId: "a" }, event, "headers/MessageGroupId"],
  [{ colour: "red" }, event, "headers/colour is unknown"],
  [{}, { ...cloudEvent, id: undefined }, "body/id is required"],
])("attributes %j of a topic with the body %j do not conform", (headers, body, violation) => {
  expect(sentViolation("publishToTopic", { headers, body: JSON.stringify(body) })).toContain(violation);
});

test("a second line of a file that is no event does not conform", () => {
  expect(fileViolation(`${JSON.stringify(event)}\n{}\n`)).toContain("body/event_type is required");
});

const inFeed = {
  ...{ cursor: "c", event_id: 1, event_type: "X", resource_type: "payment", resource_external_id: "pay1" },
  ...{ parent_resource_external_id: null, gateway_account_id: null, timestamp: event.timestamp },
  ...{ event_details: {}, service_id: null, live: null },
};

test("lines and server-sent events of the feed conform, and others do not", () => {
  const [line, short] = [inFeed, { ...inFeed, cursor: undefined }].map((one) => JSON.stringify(one));
  const [lines, stream] = ["application/x-ndjson", "text/event-stream"] as const;
  expect(feedViolation(lines, `${line}\n${line}\n`)).toBeUndefined();
  expect(feedViolation(lines, `${line}\n${short}\n`)).toContain("body/cursor is required");
  expect(feedViolation(stream, `:\n\nid: c\ndata: ${line}\n\n`)).toBeUndefined();
  expect(feedViolation(stream, `id: c\ndata: ${short}\n\n`)).toContain("body/cursor is required");
});
