import { randomUUID } from "node:crypto";
import type { EventPosition } from "../tables/event-list.ts";
import type { FeedPosition } from "../tables/feed/feed.ts";
import type { RecordedChange } from "../tables/known/changed.ts";
import type { Position } from "../tables/page.ts";
import type { ChildPosition } from "../tables/reported-transaction.ts";
import type { TickerPosition } from "../tables/ticker.ts";
import { openNumberSeal, openSeal } from "./seal.ts";

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

/** A `KnownPosition`. Those of `also` are distances from `before`, separated by commas. */
interface StoredPosition {
  before: bigint;
  behind: string;
  event_id: bigint | null;
}

export type Cursors = ReturnType<typeof openCursors>;

/**
 * The cursors of a ledger. They are sealed with the key of its database, since a position has numbers and instants of events
 * that the caller may not see.
 */
export function openCursors(key: Uint8Array) {
  const seal = openSeal(key);
  /** Writes positions as cursors, and reads them. */
  const codec = <Of extends object>(name: string, ...members: (keyof Of & string)[]) => ({
    write: (position: Of): string => seal.close(name, textOf(members.map((member) => position[member]))),
    /** Undefined without a text; null if the text is not such a cursor of this ledger. */
    read(text: string | undefined): Of | undefined | null {
      if (text === undefined) return undefined;
      const values = seal.open(name, text);
      if (values === undefined) return null;
      return Object.fromEntries(valuesIn(values).map((value, index) => [members[index], value])) as Of;
    },
  });
  const position = codec<StoredPosition & Pick<PagePosition, "random">>(
    "position",
    "before",
    "behind",
    "event_id",
    "random",
  );
  const wholePosition = openNumberSeal(key, "position");
  return {
    page: codec<PagePosition>("page", "created_date", "external_id", "arrived", "page", "total", "random"),
    event: codec<EventPosition>("event", "timestamp", "event_type", "resource_type", "resource_external_id"),
    child: codec<ChildPosition>("child", "created_date", "external_id"),
    group: codec<GroupPosition>("group", "columns", "values"),
    hour: codec<{ hour: string }>("hour", "hour"),
    ticker: codec<TickerPosition>("ticker", "timestamp", "id"),
    feed: codec<FeedPosition>("feed", "sql_transaction", "event_id", "timestamp"),
    access: codec<{ id: bigint }>("access", "id"),
    change: codec<RecordedChange>("change", "sql_transaction", "external_id"),
    position: {
      write(stored: StoredPosition): string {
        const isWhole = stored.behind === "" && stored.event_id === null;
        return (
          (isWhole && wholePosition.close(stored.before)) ||
          position.write({ ...stored, random: randomText() })
        );
      },
      read(text: string): StoredPosition | undefined | null {
        const before = wholePosition.open(text);
        return before === undefined ? position.read(text) : { before, behind: "", event_id: null };
      },
    },
    deadLetter: codec<{ dead_letter_id: bigint }>("dead letter", "dead_letter_id"),
  };
}

/** Random enough that two cursors of a position are rarely equal, and short, since sealing takes time for each byte. */
export const randomText = (): string => randomUUID().slice(0, 13);

/** Values as JSON, in which a bigint is an object: numbers of JSON are not exact. */
const textOf = (values: unknown[]): string =>
  JSON.stringify(values.map((value) => (typeof value === "bigint" ? { bigint: String(value) } : value)));
const valuesIn = (text: string): unknown[] =>
  JSON.parse(text).map((value: { bigint?: string } | null) =>
    value?.bigint === undefined ? value : BigInt(value.bigint),
  );
