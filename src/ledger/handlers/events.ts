import type { operations } from "../../../generated/ledger.ts";
import type { Handlers } from "../../http/handlers.ts";
import type { Sql } from "../database/database.ts";
import { findEvent } from "../tables/event.ts";
import { viewEvent } from "../views/event.ts";
import { problem } from "./problem.ts";

export const eventHandlers = (sql: Sql): Pick<Handlers<operations>, "getEvent"> => ({
  async getEvent({ path }) {
    const row = await findEvent(sql, path.eventId);
    return row
      ? { status: 200, body: viewEvent(row) }
      : problem(404, [`Event with id [${path.eventId}] not found`]);
  },
});
