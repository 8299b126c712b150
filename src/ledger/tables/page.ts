import type { Bind } from "./conditions.ts";

/** The limits of a page. It has one more row than the bytes permit. */
export interface PageLimits {
  countMax: number;
  bytesMax: number;
}

/** A row of which the long columns may be missing. */
interface SizedRow {
  /** In bytes. */
  size: number;
  is_whole: boolean;
}

/**
 * Reads a page. `read` reads rows up to a number, and none that is larger than a number of bytes as a whole. One row more
 * than the page shows whether it is the last one. Usually all rows are small, and their sizes need no sum.
 */
export async function readWithin<Row extends SizedRow>(
  { countMax, bytesMax }: PageLimits,
  read: (max: number, rowBytesMax: number) => Promise<Row[]>,
): Promise<{ rows: Row[]; isLast: boolean }> {
  const found = await read(countMax + 1, Math.floor(bytesMax / countMax));
  const rows = found.slice(0, countMax);
  if (rows.every((row) => row.is_whole)) return { rows, isLast: found.length <= countMax };
  let bytes = 0;
  const fitting = rows.findIndex(({ size }) => {
    const isFull = bytes >= bytesMax;
    bytes += size;
    return isFull;
  });
  const count = fitting === -1 ? rows.length : fitting;
  const again = await read(count + 1, Number.MAX_SAFE_INTEGER);
  return { rows: again.slice(0, count), isLast: again.length <= count };
}

/** A position in a search: after a row, without the rows that arrived after the first page was read. */
export interface Position {
  created_date: string;
  external_id: string;
  /** The events that had arrived, as the SQL function `arrived_events` writes them. An older release wrote only the highest id. */
  arrived: string;
}

/** The order of a search. */
export const newestFirst = "created_date desc, external_id desc";

export const afterCondition = ({ created_date, external_id }: Position, bind: Bind): string =>
  `(created_date, external_id) < (${bind(created_date)}, ${bind(external_id)})`;

/**
 * After a position, among the rows that had arrived. A row arrives with the SQL transaction of its first event. Ids of
 * events are given out before commits, so that an event of a transaction in flight can have a lower id than one that had
 * arrived.
 */
export function continuationCondition(position: Position, bind: Bind): string {
  const [newest = "", feedEnd, behind = ""] = position.arrived.split(":");
  const notNewerCondition = `${afterCondition(position, bind)} and first_event_id <= ${bind(newest)}::bigint`;
  if (feedEnd === undefined) return notNewerCondition;
  const distances = behind === "" ? [] : behind.split(",");
  return `${notNewerCondition} and coalesce((
    select sql_transaction < ${bind(feedEnd)}::bigint
      or sql_transaction - ${bind(feedEnd)}::bigint = any(${bind(distances)}::bigint[])
    from event_feed where event_id = first_event_id and not only_of_account
  ), true)`;
}
