import { PGlite, type Transaction, types } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { parseExactly } from "../../service/exact-json.ts";
import { lockFolder } from "../../service/folder-lock.ts";
import { type Database, DatabaseUnavailable, givenUpAfter, isOfTheMoment, type Sql } from "./database.ts";
import { upkeepOf } from "./pglite-upkeep.ts";
import { readTimestamp } from "./timestamp.ts";

/** PostgreSQL inside this process, in a folder or in memory. One connection: transactions wait for one another. */
export async function open(url: URL): Promise<Database> {
  await using opening = new AsyncDisposableStack();
  const path = decodeURIComponent(url.pathname);
  const folder = path === "memory" ? undefined : path;
  if (folder !== undefined) opening.use(lockFolder(folder));
  const pglite = await PGlite.create({
    ...(folder !== undefined && { dataDir: `${folder}/pglite` }),
    extensions: { pg_trgm },
    parsers: {
      [types.INT8]: BigInt,
      [types.JSONB]: (text) => parseExactly(text),
      [types.TIMESTAMPTZ]: readTimestamp,
    },
  });
  opening.defer(() => pglite.close());
  await pglite.exec("set time zone 'UTC'");
  opening.use(upkeepOf(pglite));
  const opened = opening.move();
  const sql = sqlOver(pglite);
  return {
    ...sql,
    // A statement that has begun goes on to its end, since this engine, which runs in this thread, cannot be interrupted.
    within: (limitMs) => givenUpAfter(limitMs, sql),
    // Its folder belongs to one process.
    exclusively: (work) => work(),
    runOutside: sql.run,
    transaction: (work) => pglite.transaction((transaction) => work(sqlOver(transaction))) as never,
    async check() {
      await pglite.query("select 1");
    },
    connections: () => ({}),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const sqlOver = (connection: PGlite | Transaction): Sql => ({
  async query<Row>(text: string, values?: unknown[]) {
    return (await connection.query<Row>(text, values).catch(reject)).rows;
  },
  async run(script) {
    await connection.exec(script).catch(reject);
  },
});

/** Its disk can be full. */
function reject(error: Error & { code?: string }): never {
  throw isOfTheMoment(error.code) ? new DatabaseUnavailable(error) : error;
}
