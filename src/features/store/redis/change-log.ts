import { createHash, randomUUID } from "node:crypto";
import { letOthersRun } from "../../../process/turns.ts";
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

/** Records to read from each part for a page, so that one round is usually enough. */
export const shareOf = (limit: number) => Math.ceil((2 * limit) / parts.length) + 10;

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
      let positions: (number | undefined)[] = cursor?.positions ?? parts.map(() => undefined);
      const ends = until === undefined ? undefined : readCursor(until)?.positions;
      const page: FeedEntry[] = [];
      for (const count = shareOf(limit); page.length < limit; ) {
        const read = await ofAllParts((part) => pageOf(part, positions[part], count, ends?.[part]));
        const pages = read.filter((one) => one !== undefined);
        // What has been read is a page; the next one finds out that records after it have been deleted meanwhile.
        if (pages.length < parts.length) return page.length > 0 ? page : undefined;
        const reached = pages.map(({ position }) => position);
        for (const { part, number, record } of merge(pages.map(({ records }) => records))) {
          await letOthersRun();
          reached[part] = number;
          page.push({ record, cursor: cursorOf(log, reached) });
          const records = pages[part]?.records ?? [];
          // The next record of this part is not read yet and may be older than the next ones of other parts.
          if (records.length === count && number === records.at(-1)?.number) break;
          if (page.length === limit) break;
        }
        positions = reached;
        if (pages.every(({ records }) => records.length < count)) break;
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

/** The records of all parts, oldest first as far as the order within each part allows. */
function* merge(records: NumberedRecord[][]): Generator<NumberedRecord & { part: number }> {
  const next = records.map(() => 0);
  for (;;) {
    const heads = parts.flatMap((part) => {
      const head = records[part]?.[next[part] as number];
      return head ? [{ part, ...head }] : [];
    });
    const [first, ...rest] = heads;
    if (!first) return;
    const oldest = rest.reduce((one, other) => (other.record.at < one.record.at ? other : one), first);
    next[oldest.part] = (next[oldest.part] as number) + 1;
    yield oldest;
  }
}

const digestOf = (ids: string[]) => createHash("sha256").update(ids.join()).digest("hex").slice(0, 8);

const cursorOf = (log: string, positions: number[]) =>
  [log, ...positions.map((position) => position.toString(36))].join(".");

function readCursor(text: string): { log: string; positions: number[] } | undefined {
  const [log = "", ...numbers] = text.split(".");
  const isValid =
    numbers.length === parts.length && numbers.every((number) => /^(0|[1-9a-z]\w{0,9})$/.test(number));
  return isValid ? { log, positions: numbers.map((number) => Number.parseInt(number, 36)) } : undefined;
}
