import { randomUUID } from "node:crypto";
import type { ChangeRecord, FeedEntry } from "../store.ts";
import { digits, keyOf } from "./keys.ts";
import type { OrderedMap } from "./map.ts";

/** The range of records that are kept, by number. A store that is emptied gets a log with a new id. */
interface Log {
  id: string;
  first: number;
  last: number;
}

export type Append = (record: ChangeRecord) => number;

const logKey = keyOf("log");
const recordKey = (number: number) => keyOf("change", digits(number));

/** The change records of a store in an ordered map. */
export type ChangeLog = Awaited<ReturnType<typeof openChangeLog>>;

/** Opens the log, which keeps the newest `kept` records, and creates it if there is none. */
export async function openChangeLog(map: OrderedMap, kept: number) {
  await map.write(() => {
    if (!map.get(logKey)) map.put(logKey, { id: randomUUID().slice(0, 8), first: 1, last: 0 } satisfies Log);
  });
  const log = () => map.get(logKey) as Log;
  return {
    /** Runs work that appends records; `append` returns the number of the record. Within `write` only. */
    write<Result>(work: (append: Append) => Result): Result {
      const { id, first, last } = log();
      let [oldest, newest] = [first, last];
      const result = work((record) => {
        newest += 1;
        map.put(recordKey(newest), record);
        for (; oldest <= newest - kept; oldest++) map.remove(recordKey(oldest));
        return newest;
      });
      if (newest > last) map.put(logKey, { id, first: oldest, last: newest } satisfies Log);
      return result;
    },
    /**
     * The entries after a cursor, up to the cursor `until`; undefined if it is unknown or a record after it is deleted.
     * Within `read` only.
     */
    after(cursor: string | undefined, limit: number, until?: string): FeedEntry[] | undefined {
      const { id, first, last } = log();
      const number = cursor === undefined ? first - 1 : numberOf(cursor, id);
      if (number === undefined || number < first - 1 || number > last) return undefined;
      const end = Math.min(number + limit, numberOf(until ?? "", id) ?? last);
      const records = map.range<ChangeRecord>(recordKey(number + 1), recordKey(end + 1));
      return [...records].map((record, index) => ({ record, cursor: cursorOf(id, number + 1 + index) }));
    },
    /** The cursor after the newest record. Within `read` only. */
    newest(): string {
      const { id, last } = log();
      return cursorOf(id, last);
    },
  };
}

const cursorOf = (logId: string, number: number) => `${logId}-${number}`;

/** The number in a cursor of this log. */
function numberOf(cursor: string, logId: string): number | undefined {
  const [, id, number] = /^(\w+)-(0|[1-9]\d{0,14})$/.exec(cursor) ?? [];
  return id === logId ? Number(number) : undefined;
}
