import { expect, test } from "vitest";
import { ledgerContract } from "../../../src/contract/contracts.ts";
import type { Contract } from "../../../src/contract/operations.ts";
import { type Delivery, deliveryFaults } from "./deliveries.ts";

const event = {
  ...{ event_type: "PAYMENT_CREATED", resource_type: "payment", resource_external_id: "pay1" },
  ...{ timestamp: "2024-03-05T09:14:22.018000Z", event_details: {}, service_id: "svc", live: true },
};
const headers = {
  ...{ "content-type": "application/json", "webhook-id": "a-1", "webhook-timestamp": "1709630062" },
  "webhook-signature": `v1,${"A".repeat(43)}=`,
};
const delivery = (changed: object = {}): Delivery => ({
  headers: { ...headers, ...changed },
  body: JSON.stringify(event),
});

test("what deliveries show is covered, and the rest is not", () => {
  const faults = deliveryFaults(ledgerContract, [delivery()]);
  expect(faults).toContain("not covered: webhook webhook-signature: absent");
  expect(faults).toContain("not covered: PublishedEvent: without service_id");
  expect(faults).toContain("not covered: PublishedCloudEvent: with id");
  expect(faults).not.toContain("not covered: webhook webhook-signature: present");
  expect(faults).not.toContain("not covered: PublishedEvent: with service_id");
  expect(faults.filter((fault) => !fault.startsWith("not covered: "))).toEqual([]);
});

test("a body that is optional and always there is a fault, and so is an unknown header", () => {
  const contract: Contract = JSON.parse(JSON.stringify(ledgerContract));
  const { eventStored } = contract["x-webhooks"] as { eventStored: { post: { requestBody: object } } };
  Object.assign(eventStored.post.requestBody, { required: false });
  const faults = deliveryFaults(contract, [delivery({ "x-colour": "red" })]);
  expect(faults).toContain("not covered: webhook body: absent");
  expect(faults).toContain("a webhook got: the header x-colour is not declared");
});
