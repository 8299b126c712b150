/** The cursor after the record with a number in a log. */
export const cursorOf = (logId: string, number: number) => `${logId}-${number}`;

/** The log and the number in a cursor; undefined if it is none. */
export function readCursor(cursor: string): { logId: string; number: number } | undefined {
  const [, logId, number] = /^(\w+)-(0|[1-9]\d{0,14})$/.exec(cursor) ?? [];
  return logId === undefined ? undefined : { logId, number: Number(number) };
}

/** The number in a cursor of this log; undefined if it is none. */
export function numberIn(cursor: string, logId: string): number | undefined {
  const read = readCursor(cursor);
  return read?.logId === logId ? read.number : undefined;
}
