import type { Sql } from "../../src/database/database.ts";
import { openDatabase } from "../../src/database/databases.ts";
import { bodyOf } from "../../src/http/json-body.ts";
import { placeOf } from "../../src/ledger/tables/reported-transaction.ts";
import { searchTransactions } from "../../src/ledger/tables/search/search.ts";
import { transactionWriter } from "../../src/ledger/views/transaction.ts";
import { fillMaxMs, lookupPath, sampleTransactions } from "../ledger-data.ts";
import { startBaseline, startLedger } from "../programs.ts";
import type { Row } from "../row.ts";
import { expectSameResponses } from "../same-responses.ts";
import { compareThroughput, writeRequests } from "../wrk.ts";

export const transactionLookup: Row = {
  title: "transaction lookup on PostgreSQL",
  async open({ seconds, ledgers: sizes }, opened, ledgers) {
    const size = sizes.at(-1) as number;
    const databaseUrl = await ledgers.open(size);
    await using database = await openDatabase(databaseUrl);
    await storeResponses(database.within(fillMaxMs));
    // Other rows use the same ledger, and row 8 measures its size.
    opened.defer(() => dropResponses(databaseUrl));
    const paths = (await sampleTransactions(database, 10_000)).map(lookupPath);
    const service = opened.use(await startLedger(databaseUrl));
    const env = { DATABASE_URL: databaseUrl };
    const baseline = opened.use(await startBaseline("stored-json.ts", { env }));
    await expectSameResponses(service.url, baseline.url, paths.slice(0, 100));
    const requests = await writeRequests(opened, paths);
    const load = { requests, connections: 64, seconds };
    const storedJson = { name: "node:http, the stored JSON text", url: baseline.url };
    return [compareThroughput(`of ${size} transactions`, service, storedJson, load, 0.65)];
  },
};

const rowsPerQuery = 5000;

/** Stores the body of the response of the ledger for each transaction. */
async function storeResponses(sql: Sql): Promise<void> {
  await sql.run("create unlogged table stored_json (external_id text primary key, body text not null)");
  const limits = { countMax: rowsPerQuery, bytesMax: Number.MAX_SAFE_INTEGER };
  let page: Awaited<ReturnType<typeof searchTransactions>> | undefined;
  do {
    page = await searchTransactions(sql, { after: page?.next }, limits);
    const { rows } = page;
    await sql.query("insert into stored_json select * from unnest($1::text[], $2::text[])", [
      rows.map((row) => placeOf(row).position.external_id),
      rows.map((row) => bodyOf(transactionWriter(2), row).toString()),
    ]);
  } while (page.next);
  await sql.run("vacuum analyze stored_json");
  await sql.run("checkpoint");
}

async function dropResponses(databaseUrl: string): Promise<void> {
  await using database = await openDatabase(databaseUrl);
  await database.run("drop table stored_json");
}
