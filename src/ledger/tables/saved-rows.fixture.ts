import type { Sql } from "../../database/database.ts";

/** All saved rows, without the numbers of events and SQL transactions, which depend on the order of arrival, and without the sizes, which count them. */
export const savedRows = async (sql: Sql) => ({
  transactions: await sql.query(
    "select to_jsonb(transaction) - 'first_event_id' - 'size' as row from transaction order by external_id",
  ),
  agreements: await sql.query(
    "select to_jsonb(agreement) - 'first_event_id' - 'size' as row from agreement order by external_id",
  ),
  paymentInstruments: await sql.query(
    "select to_jsonb(payment_instrument) - 'size' as row from payment_instrument order by external_id",
  ),
  payouts: await sql.query(
    "select to_jsonb(payout) - 'known_since' as row from payout order by gateway_payout_id",
  ),
  metadataKeys: await sql.query(
    "select gateway_account_id, key from metadata_key order by gateway_account_id, key",
  ),
  events: await sql.query(
    `select resource_external_id, timestamp, event_type, event_details from event
     order by resource_external_id, resource_type, timestamp, event_type`,
  ),
});
