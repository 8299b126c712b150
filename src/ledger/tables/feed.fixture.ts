import { expect } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import type { Sql } from "../../database/database.ts";

/**
 * Waits until all stored events are in the feed. On a server that tests share, SQL transactions of other databases can hold
 * it back.
 */
export const feedIsComplete = (sql: Sql): Promise<void> =>
  eventually(async () => {
    const [row] = await sql.query<{ is_complete: boolean }>(
      "select coalesce(max(sql_transaction) < event_feed_end(), true) as is_complete from event_feed",
    );
    expect(row?.is_complete).toBe(true);
  });
