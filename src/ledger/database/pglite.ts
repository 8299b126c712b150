import { PGlite, type Transaction, types } from "@electric-sql/pglite";
import { lockFolder } from "../../service/folder-lock.ts";
import type { Database, Sql } from "./database.ts";

/** PostgreSQL inside this process, in a folder or in memory. One connection: transactions wait for one another. */
export async function open(url: URL): Promise<Database> {
  await using opening = new AsyncDisposableStack();
  const path = decodeURIComponent(url.pathname);
  const folder = path === "memory" ? undefined : path;
  if (folder !== undefined) opening.use(lockFolder(folder));
  const pglite = await PGlite.create({
    ...(folder !== undefined && { dataDir: `${folder}/pglite` }),
    parsers: { [types.INT8]: BigInt, [types.TIMESTAMPTZ]: readTimestamp },
  });
  opening.defer(() => pglite.close());
  await pglite.exec("set time zone 'UTC'");
  const opened = opening.move();
  return {
    ...sqlOver(pglite),
    transaction: (work) => pglite.transaction((transaction) => work(sqlOver(transaction))) as never,
    async check() {
      await pglite.query("select 1");
    },
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

/** From `2024-03-05 09:14:22.018+00`, as a session in UTC writes it. */
function readTimestamp(text: string): string {
  const [day, time = ""] = text.replace(/\+00$/, "").split(" ");
  const [seconds, fraction = ""] = time.split(".");
  return `${day}T${seconds}.${fraction.padEnd(6, "0")}Z`;
}
