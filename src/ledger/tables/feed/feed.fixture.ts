import { expect } from "vitest";
import { eventually } from "../../../../testing/eventually.ts";
import type { Sql } from "../../../database/database.ts";
import type { NewEvent } from "../event.ts";

/** An event of a payment in this second of a minute. */
export const event = (id: string, second: number, more: Partial<NewEvent> = {}): NewEvent => ({
  resource_type: "payment",
  resource_external_id: id,
  parent_resource_external_id: null,
  timestamp: `2024-01-01T00:00:${String(second).padStart(2, "0")}.000000Z`,
  event_type: "PAYMENT_CREATED",
  service_id: null,
  live: null,
  event_details: {},
  ...more,
});

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
