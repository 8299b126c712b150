import { detailsForms, messageForms } from "../../contract/member-forms.ts";
import type { Database, Sql } from "../../database/database.ts";
import { isObject, parseJson, toJson } from "../../values/json.ts";
import {
  type DeadLetter,
  type DeadLetterState,
  deadLettersAfter,
  newestDeadLetterId,
  redactPublishedDeadLetters,
  replaceBody,
} from "../tables/dead-letter.ts";
import { hasRedactions, type Redaction, redacted, redactionsOf } from "../tables/redaction.ts";
import { messageIn } from "./message.ts";

/** A dead letter can have 1 MiB and more. */
const pageSize = 20;
const anyLength = 2 ** 31 - 1;

/** Erases the personal data of redacted resources from all dead letters. `advance` gets the number of those that were read. */
export async function redactDeadLetters(
  database: Database,
  advance: (count: number) => void,
): Promise<number> {
  let count = await redactPublishedDeadLetters(database);
  const last = await newestDeadLetterId(database);
  for (const state of ["open", "discarded"] satisfies DeadLetterState[]) {
    let after = 0n;
    for (;;) {
      const page = await deadLettersAfter(database, state, after, last, pageSize, anyLength);
      if (page.length === 0) break;
      for (const { id, body } of page) {
        const erased = await redactedBody(database, body);
        if (!erased || erased === body) continue;
        await replaceBody(database, id, erased);
        count += 1;
      }
      after = page.at(-1)?.id as bigint;
      advance(page.length);
    }
  }
  return count;
}

/** Dead letters without the personal data of redacted resources. */
export async function withRedactions(sql: Sql, deadLetters: DeadLetter[]): Promise<DeadLetter[]> {
  // Large bodies take long to read.
  if (!(await hasRedactions(sql))) return deadLetters;
  const found: DeadLetter[] = [];
  // Others run between two of them.
  for (const one of deadLetters) found.push({ ...one, body: await redactedBody(sql, one.body) });
  return found;
}

/** A body without personal data if it is of a redacted resource. One that stays as it is is the same object. */
async function redactedBody<Body extends Uint8Array | null>(
  sql: Sql,
  body: Body,
): Promise<Body | Uint8Array> {
  const { message, ids } = subjectOf(body);
  const redactions = await redactionsOf(sql, [...ids]);
  if (redactions.size === 0) return body;
  const erased = message ? toJson(redactedMessage(message, [...redactions.values()])) : redacted;
  return Buffer.from(body ?? "").toString() === erased ? body : Buffer.from(erased);
}

/** The event in a body and the resources that it names. Of a body that is no event, each word can be an id. */
function subjectOf(body: Uint8Array | null): { message?: object; ids: Iterable<string> } {
  const parsed = messageIn({ body });
  const value = typeof parsed === "string" ? undefined : parsed.value;
  if (isObject(value) && typeof value.resource_external_id === "string") {
    const { resource_external_id, parent_resource_external_id, event_details } = value;
    const agreement =
      isObject(event_details) &&
      value.resource_type === "payment_instrument" &&
      event_details.agreement_external_id;
    return {
      message: value,
      ids: [resource_external_id, parent_resource_external_id, agreement].filter(
        (id) => typeof id === "string",
      ),
    };
  }
  return { ids: wordsOf(Buffer.from(body ?? "").toString()) };
}

/** The texts of JSON in a body that is no event, and its words. */
function wordsOf(text: string): Set<string> {
  const texts = (text.match(/"(?:[^"\\]|\\.)*"/g) ?? []).map(parseJson);
  const words = text.match(/[\w.:-]+/g) ?? [];
  return new Set([...texts.filter((one) => typeof one === "string"), ...words]);
}

/** Without them the message would be of another resource. */
const ids = new Set(["resource_external_id", "parent_resource_external_id"]);

/** Erases every value that has not the form of a member without personal data. */
function redactedMessage(message: object, redactions: Redaction[]): object {
  const keepsMetadata = redactions.every(({ keeps_metadata }) => keeps_metadata);
  return mapMembers(message, (name, value) => {
    if (name === "event_details" && isObject(value)) return redactedDetails(value, keepsMetadata);
    return ids.has(name) || messageForms.get(name)?.(value) ? value : redacted;
  });
}

const redactedDetails = (details: object, keepsMetadata: boolean) =>
  mapMembers(details, (name, value) => {
    if (detailsForms.get(name)?.(value)) return value;
    if (name !== "external_metadata" || !isObject(value)) return redacted;
    return keepsMetadata ? value : mapMembers(value, () => redacted);
  });

/** The same members with other values. A value that is null stays. */
const mapMembers = (members: object, read: (name: string, value: unknown) => unknown) =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, value === null ? null : read(name, value)]),
  );
