import type { Sql } from "../database/database.ts";

export interface MetadataKeyRow {
  gateway_account_id: string;
  key: string;
}

/** Keeps those that are not kept yet; in one order, so that no two receivers wait for each other in a circle. */
export async function saveMetadataKeys(sql: Sql, rows: MetadataKeyRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql.query(
    `insert into metadata_key (gateway_account_id, key)
     select gateway_account_id, key
     from jsonb_to_recordset($1::jsonb) as new_row (gateway_account_id text, key text)
     order by gateway_account_id, key
     on conflict do nothing`,
    [JSON.stringify(rows)],
  );
}

/** Those that are not kept. */
export const missingMetadataKeys = (sql: Sql, rows: MetadataKeyRow[]): Promise<MetadataKeyRow[]> =>
  sql.query(
    `select distinct gateway_account_id, key
     from jsonb_to_recordset($1::jsonb) as wanted (gateway_account_id text, key text)
     where not exists (
       select from metadata_key
       where metadata_key.gateway_account_id = wanted.gateway_account_id and metadata_key.key = wanted.key)
     order by gateway_account_id, key`,
    [JSON.stringify(rows)],
  );

/** The keys that payments of these accounts ever had, each once, by their letters. */
export async function metadataKeysOf(sql: Sql, accountIds: string[]): Promise<string[]> {
  const rows = await sql.query<{ key: string }>(
    'select distinct key collate "C" as key from metadata_key where gateway_account_id = any($1::text[]) order by key',
    [accountIds],
  );
  return rows.map(({ key }) => key);
}
