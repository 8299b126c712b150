import { isUtf8 } from "node:buffer";
import type { components } from "../../../generated/ledger.ts";
import { detailsMembers, ledgerContract, messageMembers } from "../../contract/contracts.ts";
import { detailed, type Fault, type PlacedFault } from "../../contract/faults.ts";
import { schemaValidator } from "../../contract/validation.ts";
import { isStorable } from "../../database/database.ts";
import type { Currency } from "../../values/currency.ts";
import { hasLongerNumber, integerOf, isRawNumber, parseExactly } from "../../values/exact-json.ts";
import { readInstant } from "../../values/instant.ts";
import { exceededBound, isObject, parseJson } from "../../values/json.ts";
import type { NewEvent } from "../tables/event.ts";

/** The contents of a message. An invalid message can never succeed and becomes a dead letter. */
export type Message =
  | { kind: "event"; event: NewEvent }
  | { kind: "rebuild"; externalId: string }
  | InvalidMessage;

export interface InvalidMessage {
  kind: "invalid";
  reason: string;
  /** The parts of the reason that have a place. It is one in the event, without the envelopes around it. */
  faults: PlacedFault[];
  /** The place of the event in the message, as a JSON pointer; undefined if the event is in a text. */
  place: string | undefined;
}

type EventMessage = components["schemas"]["EventMessage"];
const findFaults = schemaValidator(ledgerContract, "EventMessage");

/** The limit of Amazon SQS. */
export const messageBytesMax = 2 ** 20;
export const tooLarge = "the message is larger than 1 MiB";
export const notText = "the message is not valid UTF-8";

/** More than any event of a payment has; each metadata key can become a column of an export. */
const membersMax = 1000;

/** A limit for numbers with an exponent: they are short in a message and long in every response. */
const digitsMax = 100;

/** The members in pence. Validation sees doubles, for which 1.00000000000000000001 is an integer. */
const penceMembers = Object.entries(detailsMembers)
  .filter(([, schema]) => schema.$ref === "#/components/schemas/LenientPence")
  .map(([name]) => name);

/** Why a message is invalid: it has numbers that a double cannot represent. */
function numberErrorOf(
  details: Details,
  otherMembers: Details | undefined,
  place: string | undefined,
): InvalidMessage | undefined {
  if (hasLongerNumber(digitsMax, details) || (otherMembers && hasLongerNumber(digitsMax, otherMembers)))
    return invalid(`a number has more than ${digitsMax} digits without an exponent`, place);
  const faults = penceMembers
    .filter((name) => isRawNumber(details[name]) && integerOf(details[name]) === undefined)
    .map((name) => ({
      pointer: `/event_details/${name}`,
      rule: { type: "integer" },
      text: "must be an integer",
    }));
  return faults.length > 0 ? invalidBy(faults, place) : undefined;
}

/** The fault of an event that names another currency than the ledger has. */
const currencyFaultOf = (named: string | undefined, { code }: Currency): Fault | undefined =>
  named === undefined || named.toUpperCase() === code
    ? undefined
    : {
        pointer: "/event_details/currency",
        rule: { const: code },
        text: `must be ${code}, the currency of all amounts of this ledger`,
      };

/**
 * The event of a message as JSON and its place in the message (`InvalidMessage`), or why the message cannot be used: it is not
 * JSON or exceeds a limit.
 */
export type ParsedMessage = { text: string; value: unknown; place: string | undefined } | string;

/** Parses a message, alone, in a CloudEvent, or one of these in an Amazon SNS envelope. */
export function parseMessage(body: string): ParsedMessage {
  if (Buffer.byteLength(body) > messageBytesMax) return tooLarge;
  const outer = parseBounded(body);
  const inner =
    typeof outer !== "string" && isNotification(outer.value)
      ? parseBounded(outer.value.Message, undefined)
      : outer;
  if (typeof inner === "string" || !isCloudEvent(inner.value)) return inner;
  return dataOf(inner.text, inner.value, inner.place === undefined ? undefined : "/data");
}

/** The data of a structured CloudEvent, as a message of its own. */
function dataOf(text: string, cloudEvent: CloudEvent, place: string | undefined): ParsedMessage {
  if (cloudEvent.specversion !== "1.0") return "the specversion of the CloudEvent must be 1.0";
  if (!isObject(cloudEvent.data)) return "the data of the CloudEvent must be an object";
  // Numbers keep their digits.
  const { data } = parseExactly(text, cloudEvent) as CloudEvent;
  return { text: JSON.stringify(data), value: cloudEvent.data, place };
}

/** The message of a dead letter. The body of one that is larger than 1 MiB is not read and null. */
export function messageIn({ body }: { body: Uint8Array | null }): ParsedMessage {
  if (body === null) return tooLarge;
  if (!isUtf8(body)) return notText;
  return parseMessage(Buffer.from(body).toString());
}

/** Reads a message in the schema `EventMessage` of the contract, also from the envelopes of `parseMessage`. */
export const readMessage = (body: string, currency: Currency): Message =>
  readParsed(parseMessage(body), currency);

/** Reads a parsed message, which is not changed. An event in another currency than the ledger has is invalid. */
export function readParsed(parsedMessage: ParsedMessage, currency: Currency): Message {
  if (typeof parsedMessage === "string") return invalid(parsedMessage);
  const { text, value: parsed, place } = parsedMessage;
  const message = withoutNulls(parsed) as EventMessage;
  if (isObject(message)) message.event_details = withoutNulls(message.event_details ?? {}) as Details;
  const faults = findFaults(message);
  if (faults.length > 0) return invalidBy(faults, place);
  const currencyFault = currencyFaultOf(message.event_details?.currency, currency);
  if (currencyFault) return invalidBy([currencyFault], place);
  // Only an escape can stand for a character that cannot be stored.
  if (text.includes("\\u") && !isStorable(message)) {
    return invalid("a text contains a NUL character or an unpaired surrogate", place);
  }
  const exact = parseExactly(text, parsed) as EventMessage;
  const otherMembers = otherMembersOf(exact);
  if (exact !== parsed) {
    message.event_details = withoutNulls(exact.event_details ?? {}) as Details;
    const numberError = numberErrorOf(message.event_details, otherMembers, place);
    if (numberError) return numberError;
  }
  const { resource_external_id } = message;
  if (readBoolean(message.reproject_domain_object)) {
    return { kind: "rebuild", externalId: resource_external_id };
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
      ...(otherMembers && { other_members: otherMembers }),
    },
  };
}

type Details = Record<string, unknown>;

/** The declared members of a message, except the account. Every other member is stored in `other_members`. */
const ownMembers = new Set(Object.keys(messageMembers).filter((name) => name !== "gateway_account_id"));

/** The other members of a message, without those that are null; undefined if there are none. */
function otherMembersOf(message: object): Details | undefined {
  const others = Object.entries(message).filter(([name, value]) => !ownMembers.has(name) && value !== null);
  return others.length > 0 ? Object.fromEntries(others) : undefined;
}

function parseBounded(body: string, place: string | undefined = ""): ParsedMessage {
  // A byte order mark has no meaning in UTF-8.
  const text = body.startsWith("\uFEFF") ? body.slice(1) : body;
  const exceeded = exceededBound(text, membersMax);
  if (exceeded) return `the message ${exceeded.text}`;
  const value = parseJson(text);
  return value === undefined ? "the message is not JSON" : { text, value, place };
}

/** An invalid message whose reason has no place in the event. */
export const invalid = (reason: string, place: string | undefined = ""): InvalidMessage => ({
  kind: "invalid",
  reason,
  faults: [],
  place,
});

function invalidBy(found: Fault[], place: string | undefined): InvalidMessage {
  const faults = found.map((fault) => detailed(fault, fault.pointer.slice(1) || "the message"));
  return { kind: "invalid", reason: faults.map(({ detail }) => detail).join("; "), faults, place };
}

/** The envelope that Amazon SNS puts around a message. */
const isNotification = (value: unknown): value is { Message: string } =>
  isObject(value) && value.Type === "Notification" && typeof value.Message === "string";

interface CloudEvent {
  specversion: string;
  data?: unknown;
}

/** An event of the contract can have any other member, so its own type decides. */
const isCloudEvent = (value: unknown): value is CloudEvent =>
  isObject(value) && typeof value.specversion === "string" && !("event_type" in value);

const withoutNulls = (value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) : value;

const readBoolean = (value: unknown): boolean | undefined =>
  value === true || value === "true" ? true : value === false || value === "false" ? false : undefined;
