import type { PGlite } from "@electric-sql/pglite";

const upkeepEveryMs = 10_000;

/**
 * PostgreSQL's autovacuum, for which this engine has no process: without it dead rows pile up, and the planner, knowing
 * nothing of the tables, sorts where an index is in order. The thresholds are PostgreSQL's defaults; a negative number
 * of tuples is its sign for a table that was never looked at. An upkeep that fails is tried again the next time.
 */
export function upkeepOf(pglite: PGlite): AsyncDisposable {
  let running: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    running = keepUp(pglite).catch(() => {});
  }, upkeepEveryMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}

async function keepUp(pglite: PGlite): Promise<void> {
  const { rows } = await pglite.query<{ statement: string }>(
    `select case when dead_tuples > 50 + 0.2 * tuples then 'vacuum analyze ' else 'analyze ' end || name as statement
     from (
       select relid::regclass::text as name, n_dead_tup as dead_tuples, n_mod_since_analyze as changes,
              reltuples as tuples
       from pg_stat_user_tables join pg_class on pg_class.oid = relid
     ) as changed
     where tuples < 0 or dead_tuples > 50 + 0.2 * tuples or changes > 50 + 0.1 * tuples`,
  );
  for (const { statement } of rows) await pglite.exec(statement);
}
