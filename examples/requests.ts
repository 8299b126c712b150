import { randomUUID } from "node:crypto";

/** What the clients send whose types have the names of the contract. */
export const unknownEvent = { eventId: Number.MAX_SAFE_INTEGER };
export const search = {
  account_id: ["demo", "plain"],
  payment_states: ["success" as const, "error" as const],
  refund_states: ["success" as const, "submitted" as const],
  dispute_states: ["needs_response" as const],
  from_date: "2024-03-01T00:00:00Z",
  limit_total: true,
};
export const march = { from_date: "2024-03-01", to_date: "2024-03-31" };
export const agreement = { path: { agreementExternalId: "demo-agreement" }, query: { account_id: "demo" } };
export const consistent = { "X-Consistent": true };
export const ofBoth = { account_id: ["demo", "plain"] };
export const message = {
  event_type: "PAYMENT_CREATED",
  resource_type: "payment" as const,
  resource_external_id: randomUUID(),
  timestamp: "2024-03-05T09:14:22Z",
  event_details: { gateway_account_id: "added", amount: 4250 },
};
export const stored = {
  path: { transactionExternalId: message.resource_external_id },
  query: { account_id: "added" },
};

export const customer = { resource: "customer", id: randomUUID() };
export const zebra = {
  path: { ...customer, feature: "zebra ü" },
  query: { expires_at: "2037-03-05T09:14:22.018Z" },
};
export const late = { path: { ...customer, feature: "late" }, query: { expires_at: "2001-01-01T00:00:00Z" } };
export const bee = { path: { ...customer, feature: "bee" } };
const add = { type: "add" as const, ...customer };
export const changes = ["mango", "apple", "apple"].map((feature) => ({ ...add, feature }));
export const replacement = ["yak", "mango", "bee"];
export const context = { targetingKey: `customer/${customer.id}` };
export const feed = { limit: 1000 };
