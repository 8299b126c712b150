/** The cursor after the record with a number in a log. */
export const cursorOf = (logId: string, number: number) => `${logId}-${number}`;

/** The log and the number in a cursor; undefined if it is none. */
export function readCursor(cursor: string): { logId: string; number: number } | undefined {
  const [, logId, number] = /^(\w+)-(0|[1-9]\d{0,14})$/.exec(cursor) ?? [];
  return logId === undefined ? undefined : { logId, number: Number(number) };
}

/** The range of the records that a log has. */
interface Log {
  id: string;
  first: number;
  last: number;
}

/** The number before the first record after a cursor, or before all; undefined if it is unknown or a record is deleted. */
export function positionOf(cursor: string | undefined, { id, first, last }: Log): number | undefined {
  const number = cursor === undefined ? first - 1 : numberIn(cursor, id);
  return number === undefined || number < first - 1 || number > last ? undefined : number;
}

/** The number in a cursor of this log; undefined if it is none. */
export function numberIn(cursor: string, logId: string): number | undefined {
  const read = readCursor(cursor);
  return read?.logId === logId ? read.number : undefined;
}
