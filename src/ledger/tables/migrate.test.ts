import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { readDemoEvents } from "../commands/demo-events.fixture.ts";
import type { Database } from "../database/database.ts";
import { openNewDatabase } from "../database/new-database.fixture.ts";
import { ingest } from "../intake/ingest.ts";
import { migrate } from "./migrate.ts";

const kept = async (database: Database) => ({
  transactions: await database.query("select * from transaction order by external_id"),
  metadataKeys: await database.query("select * from metadata_key order by gateway_account_id, key"),
});

test("a ledger of the first migration knows after the others what a new one knows", async () => {
  await using database = await openNewDatabase();
  await migrate(database);
  await ingest(database, { events: readDemoEvents(), reprojections: [], parked: [] });
  const expected = await kept(database);
  expect(expected.metadataKeys).not.toEqual([]);

  await database.run(`
    alter table event rename to event_of_now;
    alter table transaction rename to transaction_of_now;
    drop table parked_message, payout, metadata_key;
    delete from migration where name <> '0001-events-and-transactions.sql'`);
  await database.run(
    await readFile(new URL("./migrations/0001-events-and-transactions.sql", import.meta.url), "utf8"),
  );
  const columnsOf = async (table: string) => {
    const columns = await database.query<{ name: string }>(
      "select column_name as name from information_schema.columns where table_name = $1 order by ordinal_position",
      [table],
    );
    return columns.map(({ name }) => name).join(", ");
  };
  for (const table of ["event", "transaction"]) {
    const columns = await columnsOf(table);
    await database.run(
      `insert into ${table} (${columns}) overriding system value select ${columns} from ${table}_of_now`,
    );
  }
  await migrate(database);
  expect(await kept(database)).toEqual(expected);
});

test("a migration is applied once", async () => {
  await using database = await openNewDatabase();
  await migrate(database);
  const applied = await database.query("select * from migration");
  await migrate(database);
  expect(await database.query("select * from migration")).toEqual(applied);
});
