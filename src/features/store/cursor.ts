/**
 * The cursor after a record: the log, the number and the instant of the record. The instant identifies the
 * record: when an older state of the store is restored, or a failover has lost changes, another one gets the number.
 */
export const cursorOf = (logId: string, number: number, at: number | undefined): string =>
  `${logId}-${number}${at === undefined ? "" : `-${at.toString(36)}`}`;

/** The parts of a cursor; undefined if it is none. It has no instant before the first record, nor if an earlier release wrote it. */
export function readCursor(cursor: string) {
  const [, logId, number, at] = /^(\w+)-(0|[1-9]\d{0,14})(?:-([1-9a-z][\da-z]{0,9}))?$/.exec(cursor) ?? [];
  if (logId === undefined) return undefined;
  return { logId, number: Number(number), at: at === undefined ? undefined : Number.parseInt(at, 36) };
}

/** The range of the records that a log has, by number. */
export interface Log {
  id: string;
  first: number;
  last: number;
}

/**
 * The number before the first record after a cursor, or before all; undefined if it is unknown or a record is deleted.
 * `instantOf` returns the instant of a record, undefined if it is deleted.
 */
export function positionOf(
  cursor: string | undefined,
  { id, first, last }: Log,
  instantOf: (number: number) => number | undefined,
): number | undefined {
  if (cursor === undefined) return first - 1;
  const { logId, number, at } = readCursor(cursor) ?? { number: 0 };
  if (logId !== id || number < first - 1 || number > last) return undefined;
  const present = instantOf(number);
  return at === undefined || present === undefined || present === at ? number : undefined;
}
