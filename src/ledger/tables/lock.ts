import type { Sql } from "../../database/database.ts";
import { queryIds } from "./query.ts";

/**
 * Locks resources by their ids, and the parents in the rows of those that are transactions, until the end of the SQL
 * transaction: no other receiver writes them, or the children of the transactions, meanwhile. All receivers take locks in
 * one order, so that they cannot deadlock. Returns the locked ids.
 */
export const lockResources = (sql: Sql, externalIds: string[]): Promise<string[]> =>
  queryIds(
    sql,
    `select id, pg_advisory_xact_lock(key) is null as locked
     from (
       select id, hashtextextended(id, 0) as key
       from (
         select unnest($1::text[]) as id
         union
         select parent_external_id from transaction
         where external_id = any($1::text[]) and parent_external_id is not null
       ) as resource
       order by key
     ) as in_order`,
    [externalIds],
  );
