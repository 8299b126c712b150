import type { operations } from "../../../generated/ledger.ts";
import { DatabaseUnavailable, StatementTimeout } from "../../database/database.ts";
import type { Handlers } from "../../http/handlers.ts";
import { HttpError } from "../../http/http-error.ts";
import { ownerOfStreams, recordsMax } from "../../http/streams/event-stream.ts";
import { openStreams } from "../../http/streams/feed.ts";
import { ceilInstant } from "../../values/instant.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import type { Cursors } from "../requests/cursor.ts";
import { wrong } from "../requests/failures.ts";
import type { Reader } from "../requests/lanes.ts";
import {
  type AccessFilter,
  type AccessRecordRow,
  accessStart,
  newestAccessRecord,
  readAccessRecords,
} from "../tables/access-record.ts";
import { viewAccessRecord } from "../views/access-record.ts";
import { viewNextPage } from "../views/links.ts";

const unknownAccessCursor = wrong(
  "cursor",
  { from: "cursor" },
  "cursor and Last-Event-ID must be the cursor of a record of accesses",
);

/** The records of accesses, in pages and as streams. They are read where they are written: a replica can be behind. */
export function accessRecordHandlers(
  primary: Reader,
  cursors: Cursors,
): Pick<Handlers<operations>, "listAccessRecords"> {
  const follow = openStreams(feedOf(primary, cursors));
  const withCursor = (row: AccessRecordRow) => viewAccessRecord(row, cursors.access.write({ id: row.id }));
  return {
    async listAccessRecords({ query, headers: given, mediaType, signal, url, owner }) {
      const { resource_id, subject, from_date, to_date, limit } = query;
      const filter: AccessFilter = {
        resource_id,
        subject,
        from: from_date && ceilInstant(from_date),
        to: to_date && ceilInstant(to_date),
      };
      const cursor = given["Last-Event-ID"] ?? query.cursor;
      const position = cursor === undefined ? { id: accessStart } : cursors.access.read(cursor);
      if (!position) return unknownAccessCursor;
      if (mediaType === "text/event-stream")
        return { status: 200, type: mediaType, body: follow(owner, filter, String(position.id), signal) };
      const page = await readAccessRecords(primary.lanes(owner), filter, position.id, { countMax: limit });
      const records = await mapInTurns(page.records, withCursor);
      const next_cursor = records.at(-1)?.cursor ?? cursors.access.write(position);
      const { headers } = viewNextPage(url, query, page.isLast ? undefined : next_cursor);
      return { status: 200, headers, body: { records, next_cursor, has_more: !page.isLast } };
    },
  };
}

/** The records as the streams read them. The service itself reads them, since one loop serves all of them. */
const feedOf = ({ sql, lanes }: Reader, cursors: Cursors) => ({
  newest: async () => String(await newestAccessRecord(sql)),
  async read(filter: AccessFilter, after: string | undefined, newest: string | undefined) {
    const limits = { countMax: recordsMax };
    const { records } = await readAccessRecords(
      lanes(ownerOfStreams),
      filter,
      BigInt(after ?? accessStart),
      limits,
    );
    const last = records.at(-1);
    // What does not match is behind the stream, too.
    if (!last) return { cursor: newest };
    const texts = await mapInTurns(records, (row) => {
      const cursor = cursors.access.write({ id: row.id });
      return `id: ${cursor}\ndata: ${JSON.stringify(viewAccessRecord(row, cursor))}\n\n`;
    });
    return { text: Buffer.from(texts.join("")), cursor: String(last.id) };
  },
  cursorAt: (place: string) => cursors.access.write({ id: BigInt(place) }),
  /** Also if too many statements wait. */
  isOutage: (error: unknown) =>
    error instanceof DatabaseUnavailable || error instanceof StatementTimeout || error instanceof HttpError,
});
