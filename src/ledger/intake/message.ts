import contract from "../../../generated/ledger.json" with { type: "json" };
import type { components } from "../../../generated/ledger.ts";
import type { Contract } from "../../contract/operations.ts";
import { schemaValidator } from "../../contract/validation.ts";
import { hasLongerNumber, isRawNumber, parseExactly } from "../../values/exact-json.ts";
import { readInstant } from "../../values/instant.ts";
import { isDeeperThan, nestingMax, parseJson } from "../../values/json.ts";
import { isStorable } from "../database/database.ts";
import type { NewEvent } from "../tables/event.ts";

/** What a message asks for; a refused one can never succeed, and says why. */
export type Message =
  | { kind: "event"; event: NewEvent }
  | { kind: "reprojection"; externalId: string }
  | { kind: "refused"; reason: string };

type EventMessage = components["schemas"]["EventMessage"];
const findFaults = schemaValidator(contract as unknown as Contract, "EventMessage");

/** What Amazon SQS takes at the most, and far more than an event has to tell. */
export const messageBytesMax = 2 ** 20;

/** An exponent takes no room in a message, and its zeros take much in every reply. */
const digitsMax = 100;

/** What is declared as pence. The validation sees doubles, among which 1.00000000000000000001 is an integer. */
const penceMembers = Object.entries(contract.components.schemas.EventDetails.properties)
  .filter(([, schema]) => "$ref" in schema && schema.$ref === "#/components/schemas/LenientPence")
  .map(([name]) => name);

/** What is wrong with numbers that a double does not hold. */
const findNumberFaults = (details: Details): string[] =>
  hasLongerNumber(digitsMax, details)
    ? [`a number has more than ${digitsMax} digits when it is written without an exponent`]
    : penceMembers
        .filter((name) => isRawNumber(details[name]))
        .map((name) => `event_details/${name} must be an integer`);

/** Reads a message as the contract's `EventMessage` describes it. */
export function readMessage(body: string): Message {
  if (Buffer.byteLength(body) > messageBytesMax) return refused("the message is larger than 1 MiB");
  const outer = parseJson(body);
  const text = isNotification(outer) ? outer.Message : body;
  const parsed = text === body ? outer : parseJson(text);
  if (parsed === undefined) return refused("the message is not JSON");
  if (isDeeperThan(nestingMax, parsed)) return refused(`the message is nested more than ${nestingMax} deep`);
  const message = withoutNulls(parsed) as EventMessage;
  if (isObject(message)) message.event_details = withoutNulls(message.event_details ?? {}) as Details;
  const [fault, ...more] = findFaults(message);
  if (fault !== undefined) return refused([fault, ...more].join("; "));
  if (!isStorable(message)) {
    return refused("a text holds a NUL character or half a surrogate pair, which cannot be stored");
  }
  const exact = parseExactly(text, parsed) as EventMessage;
  if (exact !== parsed) {
    message.event_details = withoutNulls(exact.event_details ?? {}) as Details;
    const faults = findNumberFaults(message.event_details);
    if (faults.length > 0) return refused(faults.join("; "));
  }
  const { resource_external_id } = message;
  if (readBoolean(message.reproject_domain_object)) {
    return { kind: "reprojection", externalId: resource_external_id };
  }
  return {
    kind: "event",
    event: {
      resource_type: message.resource_type,
      resource_external_id,
      parent_resource_external_id: message.parent_resource_external_id || null,
      timestamp: readInstant(message.timestamp) as string,
      event_type: message.event_type,
      service_id: message.service_id || null,
      live: readBoolean(message.live) ?? null,
      event_details: message.event_details as Details,
    },
  };
}

type Details = Record<string, unknown>;

const refused = (reason: string): Message => ({ kind: "refused", reason });

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What Amazon SNS puts around a message that it passes on to a queue. */
const isNotification = (value: unknown): value is { Message: string } =>
  isObject(value) &&
  (value as { Type?: unknown }).Type === "Notification" &&
  typeof (value as { Message?: unknown }).Message === "string";

const withoutNulls = (value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) : value;

const readBoolean = (value: unknown): boolean | undefined =>
  value === true || value === "true" ? true : value === false || value === "false" ? false : undefined;
