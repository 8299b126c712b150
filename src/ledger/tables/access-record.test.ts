import { expect, test } from "vitest";
import type { Sql } from "../../database/database.ts";
import {
  type AccessFilter,
  accessStart,
  insertAccessRecords,
  keepAccessRecords,
  type NewAccessRecord,
  readAccessRecords,
} from "./access-record.ts";
import { openLedgerDatabase } from "./ledger-database.fixture.ts";

const record = (members: Partial<NewAccessRecord> = {}): NewAccessRecord => ({
  ...{
    service: "ledger",
    operation: "getTransaction",
    subject: "anna",
    client: null,
    gateway_account_ids: [],
  },
  ...{ resource_ids: [], resource_count: 0, status: 200, request_id: null, reason: null, ...members },
});

/** The nodes of the plan of a page, with the names of their indexes. */
async function planOf(sql: Sql, filter: AccessFilter): Promise<string> {
  let plan = "";
  const explaining: Sql = {
    run: (script) => sql.run(script),
    async query<Row>(text: string, values?: unknown[]): Promise<Row[]> {
      const lines = await sql.query<Record<string, string>>(`explain ${text}`, values, "custom");
      plan = lines.map((line) => Object.values(line).join()).join("\n");
      return [];
    },
  };
  await readAccessRecords(explaining, filter, accessStart, { countMax: 100 });
  return plan;
}

test("records of a resource, of a subject and of a time are found by an index", async () => {
  await using database = await openLedgerDatabase();
  await keepAccessRecords(database, "13 months");
  await database.run(`
    insert into access_record (sql_transaction, service, operation, subject, gateway_account_ids, resource_ids, status)
    select n, 'ledger', 'getTransaction', 'user' || n % 100, '{57}', array['payment' || n % 2000], 200
    from generate_series(1, 8000) as n`);
  await database.run("analyze access_record");
  expect(await planOf(database, { resource_id: "payment7" })).toMatch(/Bitmap Index Scan on \w*resource_ids/);
  expect(await planOf(database, { subject: "user7" })).toMatch(/Scan (on|using) \w*subject/);
  expect(await planOf(database, {})).not.toMatch(/-> {2}(Seq Scan|Sort) /);
});

test("records are in the partition of their month, and old months are dropped", async () => {
  await using database = await openLedgerDatabase();
  const partitions = async () =>
    (
      await database.query<{ name: string }>(
        "select relid::text as name from pg_partition_tree('access_record') where isleaf order by 1",
      )
    ).map(({ name }) => name);
  await insertAccessRecords(database, [record({ subject: "before the first partition" })]);
  // The month of a record that came before its partition gets none.
  await keepAccessRecords(database, "13 months");
  expect(await partitions()).toHaveLength(2);
  await database.run("delete from access_record");
  await keepAccessRecords(database, "13 months");
  await keepAccessRecords(database, "13 months");
  const made = await partitions();
  expect(made).toHaveLength(3);
  await database.run(`
    create table access_record_2020_01 partition of access_record for values from ('2020-01-01Z') to ('2020-02-01Z');
    insert into access_record (recorded_at, service, operation, gateway_account_ids, resource_ids, status)
    select unnest(array['2020-01-15Z', '2020-03-15Z', now()]), 'ledger', 'getEvent', '{}', '{}', 200`);
  await keepAccessRecords(database, "100 years");
  expect(await partitions()).toHaveLength(4);
  await keepAccessRecords(database, "13 months");
  expect(await partitions()).toEqual(made);
  expect(await database.query("select from access_record where recorded_at < '2021-01-01'")).toEqual([]);
  expect(await database.query("select from access_record")).toHaveLength(1);
});

test("a time selects the records in it, whatever the order of their commits", async () => {
  await using database = await openLedgerDatabase();
  await database.run(`
    insert into access_record (sql_transaction, recorded_at, service, operation, gateway_account_ids, resource_ids, status)
    select n + n % 3, timestamptz '2026-01-01Z' + n * interval '1 second', 'ledger', 'getEvent', '{}', '{}', 200
    from generate_series(1, 600) as n`);
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
  for (const [from, to] of [
    [1, 601],
    [100, 200],
    [599, 700],
    [0, 1],
    [300, 300],
  ] as const) {
    const filter = { from: at(from), to: at(to) };
    const { records } = await readAccessRecords(database, filter, accessStart, { countMax: 1000 });
    expect([from, to, records.length]).toEqual([
      from,
      to,
      Math.max(0, Math.min(to, 601) - Math.max(from, 1)),
    ]);
  }
});
