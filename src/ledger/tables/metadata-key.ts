import type { Sql } from "../../database/database.ts";

export interface MetadataKeyRow {
  gateway_account_id: string;
  key: string;
}

/** Saves the rows that are new, in one order, so that receivers cannot deadlock. */
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

/** The rows that are not saved. */
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

/** The first metadata keys that payments of these accounts have ever had, without duplicates, in code point order. */
export async function metadataKeysOf(sql: Sql, accountIds: string[], max: number): Promise<string[]> {
  const rows = await sql.query<{ key: string }>(
    `select distinct key from unnest($1::text[]) as wanted (account) cross join lateral (
       select key collate "C" as key from metadata_key
       where gateway_account_id = account order by key collate "C" limit $2
     ) as first_key order by key limit $2`,
    [accountIds, max],
  );
  return rows.map(({ key }) => key);
}
