import type { LimitedSql, Sql } from "../../database/database.ts";
import { failure } from "../../http/failure.ts";
import { bodyOf } from "../../http/json-body.ts";
import { ceilInstant, readInstant } from "../../values/instant.ts";
import type { Cursors } from "../requests/cursor.ts";
import { unknownCursor } from "../requests/failures.ts";
import { findWhole, type Reader } from "../requests/lanes.ts";
import { withPositions } from "../requests/reading.ts";
import { findEvent } from "../tables/event.ts";
import { listTicker, type TickerFilter, type TickerRow, tickerEnd } from "../tables/ticker.ts";
import { viewTickerEvent, wholeEventWriter } from "../views/event.ts";
import { viewNextPage } from "../views/links.ts";

/** Maximum number of events of the ticker in a response, and of those that are read at once. */
const tickerMax = 10_000;
const tickerPageMax = 500;

export const eventHandlers = (reader: Reader, cursors: Cursors) =>
  withPositions(reader, cursors, {
    async getEvent({ path: { eventId }, owner }, reading) {
      const find = async (sql: LimitedSql, bytesMax?: number) =>
        findEvent(reading.at(sql), eventId, bytesMax);
      const found = await findWhole(reader, find, owner);
      if (!found) return failure(404, `Event with id [${eventId}] not found`);
      const { is_whole: _, ...row } = found;
      return { status: 200, body: bodyOf(wholeEventWriter, row) };
    },

    async listTickerEvents({ query, url, owner }, reading) {
      const after = cursors.ticker.read(query.cursor);
      if (after === null) return unknownCursor;
      const sql = reading.at(reader.lanes(owner));
      const filter: TickerFilter = {
        from: ceilInstant(query.from_date) as string,
        to: readInstant(query.to_date) as string,
        event_types: query.event_types,
        after,
      };
      const rows = await listTicker(sql, filter, tickerPageMax);
      if (rows.length < tickerPageMax) return { status: 200, body: rows.map(viewTickerEvent) };
      const until = await tickerEnd(sql, filter, tickerMax);
      const { headers } = viewNextPage(url, query, until && cursors.ticker.write(until));
      return { status: 200, headers, body: readTicker(sql, { ...filter, until }, rows) };
    },
  });

/** The events page by page, after a first page of rows. While the caller reads slowly, nothing else is in memory. */
async function* readTicker(sql: Sql, filter: TickerFilter, rows: TickerRow[]) {
  let page = rows;
  for (;;) {
    const last = page.at(-1);
    if (!last) return;
    yield page.map(viewTickerEvent);
    page = await listTicker(sql, { ...filter, after: last }, tickerPageMax);
  }
}
