import type { eventTypes } from "../../../generated/ledger.event-types.ts";
import type { Sql } from "../database/database.ts";
import type { Details } from "./event.ts";
import type { FoldState } from "./fold-state.ts";
import { rowsAsJson, saveStatement } from "./save-statement.ts";

/** The state of a payout; `UNDEFINED` if no event has set one. */
export type PayoutState = "UNDEFINED" | Extract<PayoutEvent, { state: string }>["state"];
type PayoutEvent = (typeof eventTypes.payout)[number];

export interface PayoutRow {
  gateway_payout_id: string;
  gateway_account_id: string | null;
  service_id: string | null;
  live: boolean | null;
  state: PayoutState;
  /** UTC, six fraction digits. */
  created_date: string;
  event_count: number;
  /** UTC, six fraction digits. */
  paid_out_date: string | null;
  details: Details;
  folded: FoldState | null;
}

const columnTypes: Record<keyof PayoutRow, string> = {
  gateway_payout_id: "text",
  gateway_account_id: "text",
  service_id: "text",
  live: "boolean",
  state: "text",
  created_date: "timestamptz",
  event_count: "integer",
  paid_out_date: "timestamptz",
  details: "jsonb",
  folded: "jsonb",
};

const statement = saveStatement("payout", "gateway_payout_id", columnTypes);
const columns = Object.keys(columnTypes).join(", ");

/** The rows of these payouts. */
export const payoutsOf = (sql: Sql, payoutIds: string[]): Promise<PayoutRow[]> =>
  sql.query(`select ${columns} from payout where gateway_payout_id = any($1::text[])`, [payoutIds]);

export async function removePayouts(sql: Sql, payoutIds: string[]): Promise<void> {
  if (payoutIds.length === 0) return;
  await sql.query("delete from payout where gateway_payout_id = any($1::text[])", [payoutIds]);
}

/** Inserts rows, or replaces those that differ. */
export async function savePayouts(sql: Sql, rows: PayoutRow[]): Promise<void> {
  if (rows.length > 0) await sql.query(statement, [rowsAsJson(rows)]);
}
