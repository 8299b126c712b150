import type { operations } from "../../../generated/ledger.ts";
import type { Sql } from "../../database/database.ts";
import type { Handlers } from "../../http/handlers.ts";
import { readInstant, readInstantUp } from "../../values/instant.ts";
import { findEvent } from "../tables/event.ts";
import { listTicker } from "../tables/ticker.ts";
import { viewEvent, viewTickerEvent } from "../views/event.ts";
import { viewNextLink } from "../views/next-cursor.ts";
import { readTickerCursor, writeTickerCursor } from "./cursor.ts";
import { type Lanes, quickBytesMax } from "./lanes.ts";
import { problem, unknownCursor } from "./problem.ts";

/** Maximum number of events of the ticker in a response. */
const tickerMax = 200;

export const eventHandlers = (
  sql: Sql,
  lanes: Lanes,
): Pick<Handlers<operations>, "getEvent" | "listTickerEvents"> => ({
  async getEvent({ path }) {
    const found = await findEvent(sql, path.eventId, quickBytesMax);
    const whole = found?.is_whole === false ? await findEvent(lanes("events"), path.eventId) : found;
    if (!whole) return problem(404, [`Event with id [${path.eventId}] not found`]);
    const { is_whole: _, ...row } = whole;
    return { status: 200, body: viewEvent(row) };
  },

  async listTickerEvents({ query, url }) {
    const { event_types, cursor } = query;
    const after = cursor === undefined ? undefined : readTickerCursor(cursor);
    if (cursor !== undefined && !after) return unknownCursor;
    const rows = await listTicker(lanes("ticker"), {
      from: readInstantUp(query.from_date) as string,
      to: readInstant(query.to_date) as string,
      event_types,
      after,
      max: tickerMax + 1,
    });
    const events = rows.slice(0, tickerMax);
    const last = rows.length > tickerMax ? events.at(-1) : undefined;
    return {
      status: 200,
      headers: viewNextLink(url, query, last && writeTickerCursor(last)),
      body: events.map(viewTickerEvent),
    };
  },
});
