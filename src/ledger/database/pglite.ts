import { PGlite, type Transaction, types } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { lockFolder } from "../../service/folder-lock.ts";
import { type Database, type Sql, StatementTimeout } from "./database.ts";
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
    parsers: { [types.INT8]: BigInt, [types.TIMESTAMPTZ]: readTimestamp },
  });
  opening.defer(() => pglite.close());
  await pglite.exec("set time zone 'UTC'");
  opening.use(upkeepOf(pglite));
  const opened = opening.move();
  const sql = sqlOver(pglite);
  return {
    ...sql,
    within: (limitMs) => limited(sql, limitMs),
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
    return (await connection.query<Row>(text, values)).rows;
  },
  async run(script) {
    await connection.exec(script);
  },
});

/**
 * This engine runs in this thread and knows no way to be interrupted, so a statement that has begun goes on to its end;
 * but whoever waited longer than the limit is told so, and not answered late.
 */
const limited = (sql: Sql, limitMs: number): Sql => ({
  query: <Row>(text: string, values?: unknown[]) => raced(sql.query<Row>(text, values), limitMs),
  run: (script) => raced(sql.run(script), limitMs),
});

async function raced<Result>(work: Promise<Result>, limitMs: number): Promise<Result> {
  const begun = performance.now();
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new StatementTimeout(limitMs)), limitMs);
  try {
    const result = await Promise.race([work, tooLate]);
    if (performance.now() - begun > limitMs) throw new StatementTimeout(limitMs);
    return result;
  } finally {
    clearTimeout(timer);
  }
}
