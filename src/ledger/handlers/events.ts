import type { operations } from "../../../generated/ledger.ts";
import type { Handlers } from "../../http/handlers.ts";
import type { Sql } from "../database/database.ts";
import { findEvent } from "../tables/event.ts";
import { viewEvent } from "../views/event.ts";
import { type Lanes, quickBytesMax } from "./lanes.ts";
import { problem } from "./problem.ts";

export const eventHandlers = (sql: Sql, lanes: Lanes): Pick<Handlers<operations>, "getEvent"> => ({
  async getEvent({ path }) {
    const found = await findEvent(sql, path.eventId, quickBytesMax);
    const whole = found?.is_whole === false ? await findEvent(lanes("events"), path.eventId) : found;
    if (!whole) return problem(404, [`Event with id [${path.eventId}] not found`]);
    const { is_whole: _, ...row } = whole;
    return { status: 200, body: viewEvent(row) };
  },
});
