import type { Sql } from "../../../database/database.ts";

/**
 * The ids among these whose outlines differ from their transactions. Triggers write the outlines (migration 0018), so there
 * are none unless the triggers were off.
 */
export async function differingOutlines(sql: Sql, externalIds: string[]): Promise<string[]> {
  const rows = await sql.query<{ external_id: string }>(
    `select external_id
     from (select * from transaction_outline where external_id = any($1::text[])) as outline
     full join (select * from expected_transaction_outline where external_id = any($1::text[])) as expected
       using (external_id)
     where outline is distinct from expected`,
    [externalIds],
  );
  return rows.map(({ external_id }) => external_id);
}

/** Writes the outlines that differ, and returns their number. The transactions must be locked. */
export async function rebuildOutlines(sql: Sql, externalIds: string[]): Promise<number> {
  const ids = await differingOutlines(sql, externalIds);
  if (ids.length === 0) return 0;
  await sql.query("delete from transaction_outline where external_id = any($1::text[])", [ids]);
  await sql.query(
    "insert into transaction_outline select * from expected_transaction_outline where external_id = any($1::text[])",
    [ids],
  );
  return ids.length;
}
