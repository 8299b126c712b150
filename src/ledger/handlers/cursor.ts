import { isStorable } from "../../database/database.ts";
import { readInstant } from "../../values/instant.ts";
import { parseJson } from "../../values/json.ts";
import { isArrived, type Position } from "../tables/conditions.ts";
import type { EventPosition } from "../tables/event.ts";
import { type FeedPosition, feedStart } from "../tables/feed.ts";
import type { TickerPosition } from "../tables/ticker.ts";
import type { ChildPosition } from "../tables/transaction.ts";

/** A cursor is a JSON array as base64url. It is opaque to callers. */
const write = (members: unknown[]): string => Buffer.from(JSON.stringify(members)).toString("base64url");

/** The members of a cursor; undefined if the text does not have these members in the form in which they are written. */
function read(text: string, ...areValid: ((member: unknown) => boolean)[]): unknown[] | undefined {
  const members = parseJson(Buffer.from(text, "base64url").toString());
  const isCursor =
    Array.isArray(members) &&
    members.length === areValid.length &&
    areValid.every((isValid, index) => isValid(members[index])) &&
    write(members) === text;
  return isCursor ? members : undefined;
}

const isNumber = (member: unknown) => typeof member === "string" && /^[1-9]\d{0,17}$/.test(member);
const isWholeNumber = (member: unknown) => member === "0" || isNumber(member);
const isInstant = (member: unknown) => typeof member === "string" && readInstant(member) === member;
const isText = (member: unknown) => typeof member === "string" && isStorable(member);
const isFrom = (min: number) => (member: unknown) =>
  Number.isSafeInteger(member) && (member as number) >= min;

/** The position of a page of a search, its number, and the total of the first page. */
export interface Cursor extends Position {
  page: number;
  total: number;
}

export const writeCursor = ({ created_date, external_id, arrived, page, total }: Cursor): string =>
  write([created_date, external_id, arrived, page, total]);

/** Parses a cursor. Undefined if `writeCursor` has not written it; the first page has no cursor. */
export function readCursor(text: string): Cursor | undefined {
  const isArrivedText = (member: unknown) => typeof member === "string" && isArrived(member);
  const members = read(text, isInstant, isText, isArrivedText, isFrom(2), isFrom(1));
  if (!members) return undefined;
  const [created_date, external_id, arrived, page, total] = members as [
    string,
    string,
    string,
    number,
    number,
  ];
  return { created_date, external_id, arrived, page, total };
}

/** The cursor after an event in a list of events. */
export const writeEventCursor = (position: EventPosition): string =>
  write([position.timestamp, position.event_type, position.resource_type, position.resource_external_id]);

export function readEventCursor(text: string): EventPosition | undefined {
  const members = read(text, isInstant, isText, isText, isText);
  if (!members) return undefined;
  const [timestamp, event_type, resource_type, resource_external_id] = members as [
    string,
    string,
    never,
    string,
  ];
  return { timestamp, event_type, resource_type, resource_external_id };
}

/** The cursor after a child in the list of its parent. */
export const writeChildCursor = ({ created_date, external_id }: ChildPosition): string =>
  write([created_date, external_id]);

export function readChildCursor(text: string): ChildPosition | undefined {
  const [created_date, external_id] = (read(text, isInstant, isText) as [string, string] | undefined) ?? [];
  return created_date === undefined || external_id === undefined ? undefined : { created_date, external_id };
}

/** The cursor after a group of a report: its values, in the order of the columns. */
export const writeGroupCursor = (values: (string | null)[]): string => write(values);

export function readGroupCursor(text: string, columns: number): (string | null)[] | undefined {
  const isValue = (member: unknown) => member === null || isText(member);
  return read(text, ...Array.from({ length: columns }, () => isValue)) as (string | null)[] | undefined;
}

/** The cursor after an hour. */
export const writeHourCursor = (hour: string): string => write([hour]);

export const readHourCursor = (text: string): string | undefined =>
  (read(text, isInstant) as [string] | undefined)?.[0];

/** The cursor after an event of the ticker. */
export const writeTickerCursor = ({ timestamp, id }: TickerPosition): string =>
  write([timestamp, String(id)]);

export function readTickerCursor(text: string): TickerPosition | undefined {
  const [timestamp, id] = (read(text, isInstant, isNumber) as [string, string] | undefined) ?? [];
  return timestamp === undefined || id === undefined ? undefined : { timestamp, id: BigInt(id) };
}

/** The cursor after an event in the feed. */
export const writeFeedCursor = ({ sql_transaction, event_id, timestamp }: FeedPosition): string =>
  write([String(sql_transaction), String(event_id), timestamp]);

/** Parses a cursor of the feed. Without one, the feed begins. */
export function readFeedCursor(text: string | undefined): FeedPosition | undefined {
  if (text === undefined) return feedStart;
  const members = read(text, isWholeNumber, isWholeNumber, isInstant) as [string, string, string] | undefined;
  if (!members) return undefined;
  const [sql_transaction, event_id, timestamp] = members;
  return { sql_transaction: BigInt(sql_transaction), event_id: BigInt(event_id), timestamp };
}

/** The cursor after a dead letter. */
export const writeDeadLetterCursor = (id: bigint): string => write([String(id)]);

export function readDeadLetterCursor(text: string): bigint | undefined {
  const [id] = (read(text, isNumber) as [string] | undefined) ?? [];
  return id === undefined ? undefined : BigInt(id);
}
