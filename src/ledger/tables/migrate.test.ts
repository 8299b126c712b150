import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { readDemoEvents } from "../commands/demo-events.fixture.ts";
import { type Database, openDatabase } from "../database/database.ts";
import { newPostgres, openNewDatabase } from "../database/new-database.fixture.ts";
import { ingest } from "../intake/ingest.ts";
import type { NewEvent } from "./event.ts";
import { migrate } from "./migrate.ts";

/** What is not known of the folds of old rows is found out when they go on. */
const kept = async (database: Database) => ({
  transactions: await database.query(
    "select to_jsonb(transaction) - 'folded' as row from transaction order by external_id",
  ),
  metadataKeys: await database.query("select * from metadata_key order by gateway_account_id, key"),
});

const [created] = readDemoEvents().filter(({ resource_type }) => resource_type === "payment");
/** A refund of another account than its payment's. */
const foreignRefund = {
  ...(created as NewEvent),
  resource_type: "refund" as const,
  resource_external_id: "foreign",
  parent_resource_external_id: (created as NewEvent).resource_external_id,
  event_details: { gateway_account_id: "58", amount: 1, wallet: "OWN", fee: 2 },
};

test("a ledger of the first migration knows after the others what a new one knows", async () => {
  await using database = await openNewDatabase();
  await migrate(database);
  await ingest(database, { events: [...readDemoEvents(), foreignRefund], reprojections: [], parked: [] });
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
  await database.run(`
    update transaction set reference = 'of the payment', card_brand = 'visa', payment_details = '{"email": "payer"}'
    where external_id = 'foreign'`);
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

test.runIf(process.env.TEST_DATABASE === "postgres")(
  "many that migrate an empty database at once all succeed, and each migration is applied once",
  async () => {
    await using made = await newPostgres();
    await using opened = new AsyncDisposableStack();
    const databases: Database[] = [];
    for (let count = 0; count < 8; count += 1) databases.push(opened.use(await openDatabase(made.url)));
    // Connected before, so that all begin at the same moment.
    await Promise.all(databases.map((database) => database.transaction((sql) => sql.query("select 1"))));
    await Promise.all(databases.map(migrate));
    const files = await readdir(new URL("./migrations/", import.meta.url));
    const applied = await (databases[0] as Database).query<{ name: string }>("select name from migration");
    expect(applied.map(({ name }) => name).sort()).toEqual(files.sort());
  },
);

test.runIf(process.env.TEST_DATABASE === "postgres")(
  "who may only read can start where nothing is left to be migrated",
  async () => {
    await using made = await newPostgres();
    await using database = await openDatabase(made.url);
    const reader = `reader_${randomUUID().replaceAll("-", "")}`;
    await database.run(`create role ${reader} login; grant pg_read_all_data to ${reader}`);
    const url = new URL(made.url);
    url.username = reader;
    await using reading = await openDatabase(url.href);
    await expect(migrate(reading)).rejects.toThrow("permission denied");
    await migrate(database);
    await migrate(reading);
    await database.run(`drop role ${reader}`);
  },
);
