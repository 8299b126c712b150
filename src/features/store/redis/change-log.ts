import { createHash, randomUUID } from "node:crypto";
import { letOthersRun } from "../../../waiting/turns.ts";
import type { ChangeRecord, FeedEntry } from "../store.ts";
import { keyOf, pairs, parts } from "./keys.ts";
import type { Command, Servers } from "./servers.ts";

/** A change record with its number in its part. */
interface NumberedRecord {
  number: number;
  record: ChangeRecord;
}

/** The records of a part after a position; the position is the number before the first of them. */
interface PartPage {
  position: number;
  records: NumberedRecord[];
}

type StreamEntry = [id: string, fields: string[]];

/** Replies that are longer would hold the event loop while they are decoded. */
const shareMax = 50;
/** Number of records to read from each part at once, so that for a short page one round is usually enough. */
export const shareOf = (limit: number) => Math.min(Math.ceil((3 * limit) / parts.length), shareMax);

/** Number of records that are read in a turn of their own. */
const longPage = 20;

/** The change records in the streams of all parts. A cursor has a position in each of them. */
export function changeLogIn(servers: Servers) {
  const ofAllParts = <Result>(work: (part: number) => Promise<Result>) => Promise.all(parts.map(work));

  /** The id of the stream of a part. It changes when the part is emptied. */
  async function idOf(part: number): Promise<string> {
    const key = keyOf(part, "log");
    const known = await servers.send<string | null>(part, ["GET", key]);
    if (known !== null) return known;
    const created = randomUUID();
    return (await servers.send<string | null>(part, ["SET", key, created, "NX", "GET"])) ?? created;
  }

  async function lastOf(part: number): Promise<number> {
    const command: Command = ["XREVRANGE", keyOf(part, "changes"), "+", "-", "COUNT", "1"];
    const [last] = await servers.send<StreamEntry[]>(part, command);
    return last ? numberOf(last) : 0;
  }

  /**
   * The records of a part after a number, or from the oldest one, up to the number `until`; undefined if a record after
   * the first number is deleted.
   */
  async function pageOf(
    part: number,
    after: number | undefined,
    limit: number,
    until: number | undefined,
  ): Promise<PartPage | undefined> {
    const [start, end] = [
      after === undefined ? "-" : `(0-${after}`,
      until === undefined ? "+" : `0-${until}`,
    ];
    const range = [start, end, "COUNT", String(limit)];
    // The newest number is read first, since records may be added in between.
    const [last, entries] = await Promise.all([
      lastOf(part),
      servers.send<StreamEntry[]>(part, ["XRANGE", keyOf(part, "changes"), ...range]),
    ]);
    if (entries.length > longPage) await letOthersRun();
    const records = entries.map((entry) => ({ number: numberOf(entry), record: recordIn(entry) }));
    const first = records[0]?.number ?? Math.min(last, until ?? last) + 1;
    const position = after ?? first - 1;
    if (position > last || (records.length > 0 && first !== position + 1)) return undefined;
    return { position, records };
  }

  return {
    /** See `FeatureStore.changes`. */
    async after(after: string | undefined, limit: number, until?: string): Promise<FeedEntry[] | undefined> {
      const cursor = after === undefined ? undefined : readCursor(after);
      if (after !== undefined && !cursor) return undefined;
      const log = digestOf(await ofAllParts(idOf));
      if (cursor && cursor.log !== log) return undefined;
      const ends = until === undefined ? undefined : readCursor(until)?.positions;
      const count = shareOf(limit);
      const readers = parts.map((part) =>
        recordReader(
          (position) => pageOf(part, position, count, ends?.[part]),
          count,
          cursor?.positions[part],
        ),
      );
      const page: FeedEntry[] = [];
      while (page.length < limit) {
        const isComplete = await Promise.all(readers.map((reader) => reader.fill()));
        // What has been read is a page; the next one finds out that records after it have been deleted meanwhile.
        if (isComplete.includes(false)) return page.length > 0 ? page : undefined;
        const waiting = readers.filter(({ unread }) => unread.length > 0);
        if (waiting.length === 0) break;
        // The oldest of all is next, as long as the oldest of each part is known.
        while (page.length < limit && waiting.every(({ unread }) => unread.length > 0)) {
          await letOthersRun();
          const record = waiting
            .reduce((one, other) => (oldestIn(other) < oldestIn(one) ? other : one))
            .take();
          page.push({
            record,
            cursor: cursorOf(
              log,
              readers.map(({ position = 0 }) => position),
            ),
          });
        }
      }
      return page;
    },
    /** The cursor after the newest record. */
    async newest(): Promise<string> {
      const [ids, positions] = await Promise.all([ofAllParts(idOf), ofAllParts(lastOf)]);
      return cursorOf(digestOf(ids), positions);
    },
  };
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

/** Reads the records of a part in pieces of `count`. */
function recordReader(
  read: (after: number | undefined) => Promise<PartPage | undefined>,
  count: number,
  after: number | undefined,
) {
  let isLast = false;
  const reader = {
    /** The oldest record is the last. */
    unread: [] as NumberedRecord[],
    /** The number before the oldest unread record; undefined before the first `fill` without `after`. */
    position: after,
    /** Reads on if no record is left. Resolves with false if records have been deleted before they were read. */
    async fill(): Promise<boolean> {
      if (isLast || reader.unread.length > 0) return true;
      const page = await read(reader.position);
      if (!page) return false;
      reader.position = page.position;
      reader.unread = page.records.reverse();
      isLast = page.records.length < count;
      return true;
    },
    /** Removes the oldest unread record. */
    take(): ChangeRecord {
      const { number, record } = reader.unread.pop() as NumberedRecord;
      reader.position = number;
      return record;
    },
  };
  return reader;
}

const oldestIn = ({ unread }: { unread: NumberedRecord[] }) => unread.at(-1)?.record.at ?? 0;

const digestOf = (ids: string[]) => createHash("sha256").update(ids.join()).digest("hex").slice(0, 8);

const cursorOf = (log: string, positions: number[]) =>
  [log, ...positions.map((position) => position.toString(36))].join(".");

function readCursor(text: string): { log: string; positions: number[] } | undefined {
  const [log = "", ...numbers] = text.split(".");
  const isValid =
    numbers.length === parts.length && numbers.every((number) => /^(0|[1-9a-z]\w{0,9})$/.test(number));
  return isValid ? { log, positions: numbers.map((number) => Number.parseInt(number, 36)) } : undefined;
}
