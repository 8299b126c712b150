import { createHash } from "node:crypto";
import { parseExactly } from "../../values/exact-json.ts";
import type { Resource } from "../tables/event.ts";
import type { FeedRow } from "../tables/feed/feed.ts";
import type { Format } from "./parameters.ts";
import type { PublishedEvent } from "./target.ts";

/** The ledger whose events are published. */
export interface Origin {
  ledgerId: string;
  /** The `source` of CloudEvents, a URI reference. */
  source: string;
}

export const defaultSource = (ledgerId: string): string => `/payment-ledger/${ledgerId}`;

/**
 * An event as subscribers get it: the message as its producer sent it, without its null members, or a CloudEvent 1.0
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md) with the message as its data.
 */
export function deliveryOf(row: FeedRow, format: Format, { ledgerId, source }: Origin): PublishedEvent {
  const {
    id: _id,
    sql_transaction: _transaction,
    gateway_account_id,
    event_details,
    other_members,
    accepted_at: acceptedAt,
    ...event
  } = row;
  const { resource_type, timestamp, event_type } = event;
  const [id, key] = [`${ledgerId}-${digestOf(row)}`, keyOf(row)];
  const members = Object.entries(event).filter(([, value]) => value !== null);
  const message = {
    ...Object.fromEntries(members),
    event_details: parseExactly(event_details),
    ...(other_members && (parseExactly(other_members) as object)),
  };
  const isCloudEvent = format === "cloudevents";
  const cloudEvent = () => ({
    specversion: "1.0",
    id,
    source,
    type: event_type,
    subject: key,
    time: timestamp,
    datacontenttype: "application/json",
    ...(gateway_account_id !== null && { gatewayaccountid: gateway_account_id }),
    data: message,
  });
  return {
    id,
    key,
    routingKey: `${resource_type}.${event_type}`,
    timestamp,
    body: JSON.stringify(isCloudEvent ? cloudEvent() : message),
    contentType: isCloudEvent ? "application/cloudevents+json" : "application/json",
    acceptedAt,
  };
}

/**
 * Identifies an event within its ledger. The number of an event does not: when an older state of the database was restored,
 * another event can get it.
 */
const digestOf = ({ resource_type, resource_external_id, timestamp, event_type }: FeedRow): string =>
  createHash("sha256")
    .update(JSON.stringify([resource_type, resource_external_id, timestamp, event_type]))
    .digest("base64url")
    .slice(0, 22);

/** The name of a resource. */
export const keyOf = ({ resource_type, resource_external_id }: Resource) =>
  `${resource_type}/${resource_external_id}`;
