import type { components } from "../../../generated/ledger.ts";
import type { AccessRecordRow } from "../tables/access-record.ts";

type AccessRecord = components["schemas"]["AccessRecord"];

/** A record with the cursor after it. */
export const viewAccessRecord = (row: AccessRecordRow, cursor: string): AccessRecord => ({
  cursor,
  accessed_date: row.accessed_at,
  recorded_date: row.recorded_at,
  service: row.service,
  operation: row.operation,
  subject: row.subject,
  client: row.client,
  gateway_account_ids: row.gateway_account_ids,
  resource_ids: row.resource_ids,
  resource_count: row.resource_count,
  status: row.status,
  request_id: row.request_id,
  reason: row.reason,
});
