import { expect, test } from "vitest";
import type { Sql } from "../../database/database.ts";
import {
  type AccessFilter,
  accessStart,
  keepAccessRecords,
  type NewAccessRecord,
  readAccessRecords,
  saveAccessRecords,
} from "./access-record.ts";
import { openLedgerDatabase } from "./ledger-database.fixture.ts";

const session = "5f3c1d1e-7b1a-4a55-9d61-3a5d0e0f6b10";
const rowOf = (number: number, records: NewAccessRecord[], of = session) => ({
  ...{ session: of, number, text: JSON.stringify(records) },
});
const record = (members: Partial<NewAccessRecord> = {}): NewAccessRecord => ({
  accessed_at: "2026-01-01T00:00:00Z",
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
    insert into access_record (accessed_at, service, operation, subject, gateway_account_ids, resource_ids, status)
    select now(), 'ledger', 'getTransaction', 'user' || n % 100, '{57}', array['payment' || n % 2000], 200
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
  await saveAccessRecords(database, [rowOf(1, [record({ subject: "before the first partition" })])]);
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
    insert into access_record (recorded_at, accessed_at, service, operation, gateway_account_ids, resource_ids, status)
    select unnest(array['2020-01-15Z', '2020-03-15Z', now()]), now(), 'ledger', 'getEvent', '{}', '{}', 200`);
  await keepAccessRecords(database, "100 years");
  expect(await partitions()).toHaveLength(4);
  await keepAccessRecords(database, "13 months");
  expect(await partitions()).toEqual(made);
  expect(await database.query("select from access_record where recorded_at < '2021-01-01'")).toEqual([]);
  expect(await database.query("select from access_record")).toHaveLength(1);
});

test("a time selects the records in it, whatever the order of their ids", async () => {
  await using database = await openLedgerDatabase();
  await database.run(`
    insert into access_record (id, recorded_at, accessed_at, service, operation, gateway_account_ids, resource_ids, status)
    select case n % 2 when 0 then n - 1 else n + 1 end, timestamptz '2026-01-01Z' + n * interval '1 second', now(), 'ledger', 'getEvent', '{}', '{}', 200
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

test("a record is stored once, however often and by how many it is saved, in the order of its session", async () => {
  await using database = await openLedgerDatabase();
  const subjects = (number: number) => [`${number} first`, `${number} second`];
  const rows = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index).map((number) =>
      rowOf(
        number,
        subjects(number).map((subject) => record({ subject })),
      ),
    );
  const other = rowOf(3, [record({ subject: "other" })], "6b9e1a0a-55a4-4f38-8f43-1f0f2a1c9d11");
  await Promise.all(
    [rows(1, 5), [...rows(1, 8), other], rows(1, 5)].map((some) => saveAccessRecords(database, some)),
  );
  await saveAccessRecords(database, rows(7, 9));
  const { records } = await readAccessRecords(database, {}, accessStart, { countMax: 100 });
  const found = records.map(({ subject }) => subject);
  expect(found.filter((subject) => subject !== "other")).toEqual(
    [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap(subjects),
  );
  expect(found).toHaveLength(19);
});
