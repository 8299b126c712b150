import { expect, test } from "vitest";
import { deliveryViolation } from "./delivery-check.ts";

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
  [{ "content-type": "text/plain" }, event, "the media type text/plain is not declared"],
  [{}, { ...event, timestamp: "2024-03-05T09:14:22Z" }, "body/timestamp must be in UTC"],
  [{}, { ...event, event_details: undefined }, "body/event_details is required"],
  [cloudEvents, { ...cloudEvent, colour: "red" }, "body/colour is unknown"],
  [cloudEvents, { ...cloudEvent, data: {} }, "body/data/event_type is required"],
])("%j with the body %j does not conform", (change, body, violation) => {
  expect(deliveryViolation({ ...headers, ...change }, JSON.stringify(body))).toContain(violation);
});
