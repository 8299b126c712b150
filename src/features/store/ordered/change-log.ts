import { randomUUID } from "node:crypto";
import { cursorOf, type Log, positionOf, readCursor } from "../cursor.ts";
import { historyMismatch } from "../parameters.ts";
import type { ChangeRecord, FeedEntry } from "../store.ts";
import { digits, keyOf } from "./keys.ts";
import type { OrderedMap } from "./map.ts";
import { recordPast } from "./past.ts";

/** The log as it is stored. A store that is emptied gets a log with a new id. */
interface StoredLog extends Log {
  /** Present if the log has all records and the history of each resource. */
  keep?: "all";
}

/** Appends records within `write`. */
export interface Append {
  /** The instant of the next record of a resource, as milliseconds since 1970 (UTC). */
  instantOf(resource: string, id: string): number;
  /** Returns the number of the record. */
  append(record: ChangeRecord): number;
}

const logKey = keyOf("log");
const recordKey = (number: number) => keyOf("change", digits(number));

/** Opens the log, which keeps the newest `kept` records or all of them, and creates it if there is none. */
export async function openChangeLog(map: OrderedMap, kept: number): Promise<ChangeLog> {
  const keepsAll = kept === Number.POSITIVE_INFINITY;
  const isOpen = await map.write(() => {
    const known = map.get<StoredLog>(logKey);
    if (known && known.last > 0) return keepsAll === (known.keep === "all");
    const id = known?.id ?? randomUUID().slice(0, 8);
    map.put(logKey, { id, first: 1, last: 0, ...(keepsAll && { keep: "all" }) } satisfies StoredLog);
    return true;
  });
  if (!isOpen) throw historyMismatch(keepsAll);
  return changeLogIn(map, kept, keepsAll);
}

/** The change records of a store in an ordered map. */
export type ChangeLog = ReturnType<typeof changeLogIn>;

function changeLogIn(map: OrderedMap, kept: number, keepsAll: boolean) {
  const log = () => map.get(logKey) as StoredLog;
  const recordAt = (number: number) => map.get<ChangeRecord>(recordKey(number));
  const instantOf = (number: number) => recordAt(number)?.at;
  const numberOf = (cursor: string | undefined) => positionOf(cursor, log(), instantOf);
  return {
    /** True if the log has all records. */
    keepsAll,
    /** The number of the newest record. Within `read` or `write` only. */
    last: () => log().last,
    /** A record that is kept. Within `read` only. */
    record: (number: number) => recordAt(number) as ChangeRecord,
    /** The number before the first record after a cursor; undefined if the cursor is unknown. Within `read` only. */
    numberOf,
    /** A record that is kept, with the cursor after it. Within `read` only. */
    entry(number: number): FeedEntry {
      const record = recordAt(number) as ChangeRecord;
      return { record, cursor: cursorOf(log().id, number, record.at) };
    },
    /** See `ChangeFeed.newest`. Within `read` only. */
    newest(before = 0): string {
      const { id, first, last } = log();
      const number = Math.max(last - before, first - 1);
      return cursorOf(id, number, instantOf(number));
    },
    /** Runs work that appends records. Within `write` only. */
    write<Result>(work: (log: Append) => Result): Result {
      const { first, last, ...rest } = log();
      let [oldest, newest] = [first, last];
      const past = keepsAll ? recordPast(map) : undefined;
      const result = work({
        instantOf: (resource, id) => past?.nextInstant(resource, id) ?? Date.now(),
        append(record) {
          newest += 1;
          map.put(recordKey(newest), record);
          past?.add(newest, record);
          for (; oldest <= newest - kept; oldest++) map.remove(recordKey(oldest));
          return newest;
        },
      });
      past?.save();
      if (newest > last) map.put(logKey, { ...rest, first: oldest, last: newest } satisfies StoredLog);
      return result;
    },
    /**
     * The entries after a cursor, up to the cursor `until`; undefined if the cursor is unknown or a record after it is
     * deleted. Within `read` only.
     */
    after(cursor: string | undefined, limit: number, until?: string): FeedEntry[] | undefined {
      const number = numberOf(cursor);
      if (number === undefined) return undefined;
      const { id, last } = log();
      const end = readCursor(until ?? "");
      const lastRead = Math.min(number + limit, end?.logId === id ? end.number : last);
      const next = number + 1;
      const records = map.range<ChangeRecord>(recordKey(next), recordKey(lastRead + 1));
      return [...records].map((record, index) => ({ record, cursor: cursorOf(id, next + index, record.at) }));
    },
  };
}
