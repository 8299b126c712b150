import type { Sql } from "../../../database/database.ts";
import { queryIds } from "../query.ts";

/**
 * The ids among these whose outlines differ from their transactions. Triggers write the outlines (migration 0018), so there
 * are none unless the triggers were off.
 */
export const differingOutlines = (sql: Sql, externalIds: string[]): Promise<string[]> =>
  queryIds(
    sql,
    `select external_id as id
     from (select * from transaction_outline where external_id = any($1::text[])) as outline
     full join (select * from expected_transaction_outline where external_id = any($1::text[])) as expected
       using (external_id)
     where outline is distinct from expected`,
    [externalIds],
  );

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
