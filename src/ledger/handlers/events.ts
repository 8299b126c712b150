import type { operations } from "../../../generated/ledger.ts";
import type { Sql } from "../../database/database.ts";
import type { Handlers } from "../../http/handlers.ts";
import { ceilInstant, readInstant } from "../../values/instant.ts";
import type { Cursors } from "../requests/cursor.ts";
import { type Lanes, quickBytesMax } from "../requests/lanes.ts";
import { problem, unknownCursor } from "../requests/problem.ts";
import { findEvent } from "../tables/event.ts";
import { listTicker, type TickerFilter, type TickerRow, tickerEnd } from "../tables/ticker.ts";
import { viewEvent, viewTickerEvent } from "../views/event.ts";
import { viewNextLink } from "../views/next-cursor.ts";

/** Maximum number of events of the ticker in a response, and of those that are read at once. */
const tickerMax = 10_000;
const tickerPageMax = 500;

export const eventHandlers = (
  sql: Sql,
  lanes: Lanes,
  cursors: Cursors,
): Pick<Handlers<operations>, "getEvent" | "listTickerEvents"> => ({
  async getEvent({ path, owner }) {
    const found = await findEvent(sql, path.eventId, quickBytesMax);
    const whole = found?.is_whole === false ? await findEvent(lanes(owner), path.eventId) : found;
    if (!whole) return problem(404, [`Event with id [${path.eventId}] not found`]);
    const { is_whole: _, ...row } = whole;
    return { status: 200, body: viewEvent(row) };
  },

  async listTickerEvents({ query, url, owner }) {
    const { event_types, cursor } = query;
    const after = cursor === undefined ? undefined : cursors.ticker.read(cursor);
    if (cursor !== undefined && !after) return unknownCursor;
    const sql = lanes(owner);
    const filter: TickerFilter = {
      from: ceilInstant(query.from_date) as string,
      to: readInstant(query.to_date) as string,
      event_types,
      after,
    };
    const rows = await listTicker(sql, filter, tickerPageMax);
    if (rows.length < tickerPageMax) return { status: 200, body: rows.map(viewTickerEvent) };
    const until = await tickerEnd(sql, filter, tickerMax);
    return {
      status: 200,
      headers: viewNextLink(url, query, until && cursors.ticker.write(until)),
      body: readTicker(sql, { ...filter, until }, rows),
    };
  },
});

/** The events page by page, after a first page of rows. While the caller reads slowly, nothing else is in memory. */
async function* readTicker(sql: Sql, filter: TickerFilter, rows: TickerRow[]) {
  let events = rows.map(viewTickerEvent);
  let last = rows.at(-1);
  while (last) {
    yield events;
    const next = await listTicker(sql, { ...filter, after: last }, tickerPageMax);
    events = next.map(viewTickerEvent);
    last = next.at(-1);
  }
}
