import { createHash, randomUUID } from "node:crypto";
import { sharedNext } from "../../../waiting/shared.ts";
import type { NumberedRecord } from "../fold-history.ts";
import type { ChangeFeed, ChangeRecord, FeedEntry } from "../store.ts";
import { keyOf, pairs, parts } from "./keys.ts";
import { merged, shareOf } from "./merge.ts";
import type { Command, Servers } from "./servers.ts";

type StreamEntry = [id: string, fields: string[]];

/** The change records in the streams of all parts. A cursor has a position in each of them. */
export function feedOf(servers: Servers, expire: () => Promise<boolean>): ChangeFeed {
  const newest = sharedNext(async () => {
    await expire();
    const [log, positions] = await Promise.all([
      logOf(servers),
      Promise.all(parts.map((part) => lastOf(servers, part))),
    ]);
    return cursorOf(log, positions);
  });
  return {
    async changes(after, limit, until) {
      await expire();
      const log = await logOf(servers);
      const cursor = readCursor(after ?? "");
      if (after !== undefined && cursor?.log !== log) return undefined;
      const ends = readCursor(until ?? "")?.positions;
      const readers = parts.map((part) =>
        recordReader(part, [cursor?.positions[part], ends?.[part]], shareOf(limit)),
      );
      const page: FeedEntry[] = [];
      const byAge = (one: FeedRecord, other: FeedRecord) => one.orderedAt - other.orderedAt;
      for await (const batch of merged(servers, readers, byAge)) {
        for (const [{ number, record }, reader] of batch.slice(0, limit - page.length)) {
          reader.position = number;
          const positions = readers.map(({ position = 0 }) => position);
          page.push({ record, cursor: cursorOf(log, positions) });
        }
        if (page.length === limit) break;
      }
      // What has been read is a page; the next one finds out that records after it have been deleted meanwhile.
      return page.length === 0 && readers.some(({ isCut }) => isCut) ? undefined : page;
    },
    async newest(before = 0) {
      if (before === 0) return await newest();
      await expire();
      const log = await logOf(servers);
      const readers = parts.map((part) => backwardReader(part, shareOf(before)));
      const byAge = (one: BackwardRecord, other: BackwardRecord) =>
        other.orderedAt - one.orderedAt || other.part - one.part;
      let left = before;
      for await (const batch of merged(servers, readers, byAge)) {
        for (const [{ number }, reader] of batch.slice(0, left)) reader.position = number - 1;
        left -= batch.length;
        if (left <= 0) break;
      }
      return cursorOf(
        log,
        readers.map(({ position = 0 }) => position),
      );
    },
  };
}

/** The digest of the ids of all streams. The id of a stream changes when its part is emptied. */
async function logOf(servers: Servers): Promise<string> {
  const ids = await Promise.all(
    parts.map(async (part) => {
      const key = keyOf(part, "log");
      const known = await servers.send<string | null>(part, ["GET", key]);
      if (known !== null) return known;
      const created = randomUUID();
      return (await servers.send<string | null>(part, ["SET", key, created, "NX", "GET"])) ?? created;
    }),
  );
  return createHash("sha256").update(ids.join()).digest("hex").slice(0, 8);
}

const lastIn = (key: string): Command => ["XREVRANGE", key, "+", "-", "COUNT", "1"];

/** The number of the newest record of a part. */
async function lastOf(servers: Servers, part: number): Promise<number> {
  const [last] = await servers.send<StreamEntry[]>(part, lastIn(keyOf(part, "changes")));
  return last ? numberOf(last) : 0;
}

/** A record with its age in the feed. The clock of a server can be set back, but the records of a part stay in their order. */
interface FeedRecord extends NumberedRecord {
  orderedAt: number;
}

/** Reads the records of a part after a number, or from the oldest one, up to the number `until`, in pieces of `count`. */
function recordReader(part: number, [after, until]: (number | undefined)[], count: number) {
  let orderedAt = 0;
  const end = until === undefined ? "+" : `0-${until}`;
  const reader = {
    part,
    unread: [] as FeedRecord[],
    /** The number before the oldest unread record; undefined before the first read without `after`. */
    position: after,
    /** True if records have been deleted before they were read. */
    isCut: false,
    isComplete: false,
    commands(): Command[] {
      const start = reader.position === undefined ? "-" : `(0-${reader.position}`;
      const key = keyOf(part, "changes");
      // The newest number is read first, since records may be added in between.
      return [lastIn(key), ["XRANGE", key, start, end, "COUNT", String(count)]];
    },
    take([[newest], entries]: [StreamEntry[], StreamEntry[]]): void {
      const last = newest ? numberOf(newest) : 0;
      for (const entry of entries) {
        const record = recordIn(entry);
        orderedAt = Math.max(orderedAt, record.at);
        reader.unread.push({ number: numberOf(entry), orderedAt, record });
      }
      const first = reader.unread[0]?.number ?? Math.min(last, until ?? last) + 1;
      reader.position ??= first - 1;
      reader.isCut = reader.position > last || (entries.length > 0 && first !== reader.position + 1);
      reader.isComplete = entries.length < count;
    },
  };
  return reader;
}

/** A record without its contents. */
interface BackwardRecord {
  part: number;
  number: number;
  orderedAt: number;
}

/** Reads the records of a part from the newest one back, in pieces of `count`. */
function backwardReader(part: number, count: number) {
  let end = "+";
  let orderedAt = Number.POSITIVE_INFINITY;
  const reader = {
    part,
    unread: [] as BackwardRecord[],
    /** The number before the oldest record that was taken, or that of the newest one; undefined before the first read. */
    position: undefined as number | undefined,
    isComplete: false,
    commands: (): Command[] => [["XREVRANGE", keyOf(part, "changes"), end, "-", "COUNT", String(count)]],
    take([entries]: [StreamEntry[]]): void {
      for (const entry of entries) {
        const number = numberOf(entry);
        reader.position ??= number;
        orderedAt = Math.min(orderedAt, recordIn(entry).at);
        reader.unread.push({ part, number, orderedAt });
        end = `(0-${number}`;
      }
      reader.isComplete = entries.length < count;
    },
  };
  return reader;
}

const numberOf = ([id]: StreamEntry) => Number(id.slice("0-".length));

function recordIn([, fields]: StreamEntry): ChangeRecord {
  const { at, expiresAt, ...rest } = Object.fromEntries(pairs(fields)) as Record<string, string>;
  return {
    ...(rest as unknown as ChangeRecord),
    at: Number(at),
    ...(expiresAt && { expiresAt: Number(expiresAt) }),
  };
}

const cursorOf = (log: string, positions: number[]) =>
  [log, ...positions.map((position) => position.toString(36))].join(".");

function readCursor(text: string): { log: string; positions: number[] } | undefined {
  const [log = "", ...numbers] = text.split(".");
  const isValid =
    numbers.length === parts.length && numbers.every((number) => /^(0|[1-9a-z]\w{0,9})$/.test(number));
  return isValid ? { log, positions: numbers.map((number) => Number.parseInt(number, 36)) } : undefined;
}
