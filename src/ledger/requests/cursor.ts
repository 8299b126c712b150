import type { Position } from "../tables/conditions.ts";
import type { EventPosition } from "../tables/event.ts";
import type { FeedPosition } from "../tables/feed/feed.ts";
import type { TickerPosition } from "../tables/ticker.ts";
import type { ChildPosition } from "../tables/transaction.ts";
import { openSeal } from "./seal.ts";

/** Writes positions as cursors, and reads them. */
export interface CursorKind<Of> {
  write(position: Of): string;
  /** Undefined if the text is not a cursor of this kind and ledger. */
  read(text: string): Of | undefined;
}

/** The position of a page of a search, its number, and the total of the first page. */
export interface PagePosition extends Position {
  page: number;
  total: number;
  /** Makes each cursor another one. A caller would see by equal ones that no event has arrived, of any account. */
  random: string;
}

/** The position after a group of a report: the columns that make the groups, and its values in their order. */
export interface GroupPosition {
  columns: string[];
  values: (string | null)[];
}

export type Cursors = ReturnType<typeof openCursors>;

/**
 * The cursors of a ledger. They are sealed with the key of its database, since a position has numbers and instants of events
 * that the caller may not see.
 */
export function openCursors(key: Uint8Array) {
  const seal = openSeal(key);
  const kind = <Of extends object>(name: string, ...members: (keyof Of & string)[]): CursorKind<Of> => ({
    write: (position) => seal.close(name, textOf(members.map((member) => position[member]))),
    read(text) {
      const values = seal.open(name, text);
      if (values === undefined) return undefined;
      return Object.fromEntries(valuesIn(values).map((value, index) => [members[index], value])) as Of;
    },
  });
  return {
    page: kind<PagePosition>("page", "created_date", "external_id", "arrived", "page", "total", "random"),
    event: kind<EventPosition>("event", "timestamp", "event_type", "resource_type", "resource_external_id"),
    child: kind<ChildPosition>("child", "created_date", "external_id"),
    group: kind<GroupPosition>("group", "columns", "values"),
    hour: kind<{ hour: string }>("hour", "hour"),
    ticker: kind<TickerPosition>("ticker", "timestamp", "id"),
    feed: kind<FeedPosition>("feed", "sql_transaction", "event_id", "timestamp"),
    deadLetter: kind<{ dead_letter_id: bigint }>("dead letter", "dead_letter_id"),
  };
}

/** Values as JSON, in which a bigint is an object: numbers of JSON are not exact. */
const textOf = (values: unknown[]): string =>
  JSON.stringify(values.map((value) => (typeof value === "bigint" ? { bigint: String(value) } : value)));
const valuesIn = (text: string): unknown[] =>
  JSON.parse(text).map((value: { bigint?: string } | null) =>
    value?.bigint === undefined ? value : BigInt(value.bigint),
  );
