import type { Sql } from "../database.ts";

const runEveryMs = 10_000;

/**
 * The autovacuum of PostgreSQL, for which the embedded engine has no process. Without it dead rows accumulate, and a planner
 * without statistics sorts instead of using an index. The thresholds are the defaults of PostgreSQL; it has a negative
 * number of tuples for a table that was never analysed. A failed run is repeated after 10 seconds.
 */
export function startAutovacuum(sql: Sql): AsyncDisposable {
  let running: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    running = vacuum(sql).catch(() => {});
  }, runEveryMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}

async function vacuum(sql: Sql): Promise<void> {
  const rows = await sql.query<{ statement: string }>(
    `select case when dead_tuples > 50 + 0.2 * tuples then 'vacuum analyze ' else 'analyze ' end || name as statement
     from (
       select relid::regclass::text as name, n_dead_tup as dead_tuples, n_mod_since_analyze as changes,
              reltuples as tuples
       from pg_stat_user_tables join pg_class on pg_class.oid = relid
     ) as changed
     where tuples < 0 or dead_tuples > 50 + 0.2 * tuples or changes > 50 + 0.1 * tuples`,
  );
  for (const { statement } of rows) await sql.run(statement);
}
