import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import fc from "fast-check";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { eventTypes } from "../../../generated/ledger.event-types.ts";
import { eventually } from "../../../testing/eventually.ts";
import { run } from "../../../testing/run.ts";
import { runOn, startPostgres } from "../../../testing/servers/postgres.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { type Database, DatabaseUnavailable } from "../../database/database.ts";
import { openDatabase } from "../../database/databases.ts";
import { statementsOf } from "../../database/migrate.ts";
import { newPostgres, openNewDatabase, postgresServer } from "../../database/new-database.fixture.ts";
import { openLog } from "../../process/log.ts";
import { readDemoEvents } from "../commands/demo-events.fixture.ts";
import { ingest } from "../intake/ingest.ts";
import { verify } from "../intake/verify.ts";
import { events, relatedEvents } from "../projection/events.fixture.ts";
import type { NewEvent } from "./event.ts";
import { openLedgerDatabase } from "./ledger-database.fixture.ts";
import { migrate, requireMigrated } from "./migrate.ts";
import { migrationNames, newMigrations } from "./migrations.fixture.ts";
import { summarise } from "./summary/summary.ts";
import { mergeSummaryChanges, summaryDifferences } from "./summary/upkeep.ts";

/** Without the fold states, since a receiver computes the fold state of an old row when the row changes. */
const savedRows = async (database: Database) => ({
  transactions: await database.query(
    "select to_jsonb(transaction) - array['folded', 'size'] as row from transaction order by external_id",
  ),
  outlines: await database.query(
    `select transaction_outline.*, transaction_outline is distinct from expected as differs
     from expected_transaction_outline as expected left join transaction_outline using (external_id) order by external_id`,
  ),
  metadataKeys: await database.query(
    "select gateway_account_id, key from metadata_key order by gateway_account_id, key",
  ),
  // Payouts whose events are older than their table have no account until a rebuild.
  feed: await database.query(
    `select gateway_account_id, only_of_account, to_jsonb(event) - array['id', 'size'] as event
     from event_feed join event on event.id = event_id where resource_type <> 'payout' order by event_id, only_of_account`,
  ),
  summary: await summarise(database, {}, { groupBy: ["account", "type", "state", "day"] }),
});

const agreementEventTypes = eventTypes.agreement.map(({ event_type }) => event_type);

const [created] = readDemoEvents().filter(({ resource_type }) => resource_type === "payment");
/** The account of this refund is not that of its payment. */
const foreignRefund = {
  ...(created as NewEvent),
  resource_type: "refund" as const,
  resource_external_id: "foreign",
  parent_resource_external_id: (created as NewEvent).resource_external_id,
  event_details: { gateway_account_id: "58", amount: 1, wallet: "OWN", fee: 2 },
};

test("later migrations give a database of the first migration the rows of a new database", async () => {
  await using current = await openLedgerDatabase();
  await ingest(current, { events: [...readDemoEvents(), foreignRefund], rebuilds: [], deadLetters: [] });
  const expected = await savedRows(current);
  expect(expected.metadataKeys).not.toEqual([]);

  await using database = await openNewDatabase();
  await using first = await newMigrations({}, "0001-events-and-transactions.sql");
  await migrate(database, undefined, first.url);
  for (const table of ["event", "transaction"]) {
    const columns = await database.query<{ name: string }>(
      "select column_name as name from information_schema.columns where table_name = $1",
      [table],
    );
    const names = columns.map(({ name }) => name).join(", ");
    const [copy] = await current.query<{ rows: string }>(
      `select json_agg(t)::text as rows from ${table} as t`,
    );
    await database.query(
      `insert into ${table} (${names}) overriding system value
       select ${names} from json_populate_recordset(null::${table}, $1::json)`,
      [copy?.rows],
    );
  }
  await database.run(`
    update transaction set reference = 'of the payment', card_brand = 'visa', payment_details = '{"email": "payer"}'
    where external_id = 'foreign'`);
  await migrate(database);
  expect(await savedRows(database)).toEqual(expected);
});

test("agreements of older events get the rows into which new events are folded", async () => {
  await using database = await openLedgerDatabase();
  const script = await readFile(
    new URL("./migrations/0017-agreements-of-older-events.sql", import.meta.url),
    "utf8",
  );
  const rows = async (table: string) =>
    database.query(
      `select to_jsonb(${table}) - array['folded', 'size'] as row from ${table} order by external_id`,
    );
  const known = new Set(["DETAILS", "OTHER", "UNKNOWN", ...agreementEventTypes]);
  /** Events of many agreements and payment instruments: each history is that of two resources. */
  const histories = fc.array(relatedEvents, { minLength: 10, maxLength: 60 }).map((all) =>
    all.flatMap((one, index) =>
      one
        .filter(({ resource_type }) => ["agreement", "payment_instrument"].includes(resource_type))
        .filter(({ event_type }) => known.has(event_type))
        // Older events have no other members.
        .map(({ other_members: _, ...event }) => ({
          ...event,
          resource_external_id: `${event.resource_external_id}${index}`,
        })),
    ),
  );
  await fc.assert(
    fc.asyncProperty(histories, async (events) => {
      await database.run("truncate event, agreement, payment_instrument");
      await ingest(database, { events, rebuilds: [], deadLetters: [] });
      const expected = [await rows("agreement"), await rows("payment_instrument")];
      await database.run("truncate agreement, payment_instrument");
      await database.query(script, [""], "custom");
      expect([await rows("agreement"), await rows("payment_instrument")]).toEqual(expected);
      const ids = new Set(events.map(({ resource_external_id }) => resource_external_id));
      expect(await verify(database, [...ids])).toEqual([]);
      expect(await database.query(script, ["\uffff"], "custom")).toEqual([]);
    }),
    { numRuns: 8 },
  );
});

/** The report of an account by day, as the previous release reads it. */
const daysOfPreviousRelease = (database: Database) =>
  database.query<{ day: string; count: bigint; amount: string }>(
    `select to_char(day, 'YYYY-MM-DD') as day, sum(count)::bigint as count, sum(amount)::text as amount
     from (
       select period as day, count, amount from transaction_summary
       where not all_accounts and grain = 'day' and gateway_account_id = '1'
       union all
       select day, count, amount from transaction_summary_change where gateway_account_id = '1'
     ) as part group by 1 having sum(count) <> 0 order by 1`,
  );

test("summaries by hour are those of older transactions, whether their changes are merged or not", async () => {
  await using database = await openNewDatabase();
  await using previous = await newMigrations({}, "0029-order-of-outlines.sql");
  await migrate(database, undefined, previous.url);
  const insert = (first: number, last: number) =>
    database.query(
      `insert into transaction (external_id, transaction_type, gateway_account_id, state, created_date, event_count,
         first_event_id, details)
       select 'p' || n, 'PAYMENT', n % 2, 'CREATED', timestamptz '2024-07-01Z' + n * interval '20 minutes', 1, n, '{"amount": 1}'
       from generate_series($1::int, $2::int) as n`,
      [first, last],
    );
  await insert(1, 200);
  await database.run("select merge_transaction_summary_changes(1000)");
  await insert(201, 400);
  await database.run("update transaction set state = 'SUCCESS' where external_id like '%7'");
  const before = await daysOfPreviousRelease(database);

  await migrate(database);
  await insert(401, 500);
  await database.run(`
    update transaction set created_date = created_date + interval '1 hour' where external_id in ('p99', 'p301', 'p499');
    update transaction set created_date = created_date - interval '1 hour' where external_id in ('p99', 'p301', 'p499');
    delete from transaction where first_event_id > 400`);
  const report = (timeZone: string) =>
    summarise(database, { account_id: ["1"] }, { groupBy: ["day"], sums: ["amount"], timeZone });
  const inLondon = await report("Europe/London");
  for (const changes of [0, 100_000]) {
    await mergeSummaryChanges(database, changes);
    expect(await daysOfPreviousRelease(database)).toEqual(before);
    expect(await report("UTC")).toMatchObject(before.map(({ day, count }) => ({ day, count })));
    expect(await report("Europe/London")).toEqual(inLondon);
    expect(await summaryDifferences(database, 10)).toEqual([]);
  }
  expect(inLondon.slice(0, 2)).toMatchObject([{ count: 34n }, { count: 36n }]);
});

test("transactions that have moved to another payout since the first position are noted", async () => {
  await using database = await openNewDatabase();
  await migrate(database);
  // Events are stored by this release, which needs its newest tables.
  await database.run("drop table former_settlement; drop function note_former_settlement cascade");
  const included = (id: string, ...payouts: string[]) => [
    ...events("payment", id, ["10:00", "PAYMENT_CREATED", { gateway_account_id: "57" }]),
    ...payouts.flatMap((gateway_payout_id, index) =>
      events("payment", id, [`1${index + 1}:00`, "PAYMENT_INCLUDED_IN_PAYOUT", { gateway_payout_id }]),
    ),
  ];
  const store = (some: NewEvent[]) => ingest(database, { events: some, rebuilds: [], deadLetters: [] });
  const moved = included("moved", "first", "second", "x".repeat(255));
  await store(moved.slice(0, 2));
  await store([...moved.slice(2), ...included("once", "first"), ...included("twice", "first", "first")]);
  await database.run(
    await readFile(new URL("migrations/0041-former-settlements.sql", import.meta.url), "utf8"),
  );
  const noted = () =>
    database.query(
      "select gateway_payout_id as payout, external_id as id from former_settlement order by 1, 2",
    );
  const expected = [
    { payout: "first", id: "moved" },
    { payout: "second", id: "moved" },
  ];
  expect(await noted()).toEqual(expected);
  await store(included("once", "first", "third").slice(2));
  expect(await noted()).toEqual([expected[0], { payout: "first", id: "once" }, expected[1]]);
});

const thing = { "9001-thing.sql": "create table thing (id text)" };

test.each([
  ["is saved", ""],
  ["is saved with the next migration when the column is empty", "update migration set checksum = null"],
  [
    "is saved with the next migration when the table has no such column",
    "alter table migration drop column checksum",
  ],
])("the checksum of a migration %s, and rejects an edited file", async (_title, statement) => {
  await using database = await openLedgerDatabase();
  await database.run(statement);
  await migrate(database);
  await using folder = await newMigrations(thing);
  await migrate(database, undefined, folder.url);
  expect(await database.query("select from migration where checksum is null")).toEqual([]);
  await using edited = await newMigrations({ "9001-thing.sql": "create table thing (id bigint)" });
  await expect(migrate(database, undefined, edited.url)).rejects.toThrow(
    "the migration 9001-thing.sql has changed since it was applied; write a new migration instead",
  );
});

test("the log has one line for new tables, one for an upgrade, and none if nothing is due", async () => {
  await using database = await openNewDatabase();
  const lines: string[] = [];
  const log = openLog("info", { write: (line) => lines.push(JSON.parse(line).msg) });
  const [first, ...others] = await migrationNames();
  await using before = await newMigrations({}, first);
  expect(await migrate(database, log, before.url)).toBe(true);
  expect(await migrate(database, log)).toBe(false);
  expect(await migrate(database, log)).toBe(false);
  const upgrade = `: ${others.length} migrations, ${others[0]} to ${others.at(-1)}$`;
  expect(lines).toEqual([
    "creating the tables",
    expect.stringMatching(new RegExp(`^migrated the database in \\d+\\.\\d s${upgrade}`)),
  ]);
});

test("a database that a newer version has migrated is rejected by an older one, which changes nothing", async () => {
  await using database = await openLedgerDatabase();
  await using newer = await newMigrations({ ...thing, "9002-more.sql": "create table more (id text)" });
  await migrate(database, undefined, newer.url);
  const message =
    "the database has the migrations 9001-thing.sql, 9002-more.sql, which this version does not know; " +
    "start the newer version, or restore a backup from before these migrations";
  await expect(migrate(database)).rejects.toThrow(message);
  await expect(requireMigrated(database)).rejects.toThrow(message);
  await using other = await newMigrations({ "9000-other.sql": "create table other (id text)" });
  await expect(migrate(database, undefined, other.url)).rejects.toThrow(message);
  expect(await database.query("select to_regclass('other')::text as name")).toEqual([{ name: null }]);
  await migrate(database, undefined, newer.url);
});

test("the previous release saves, reads and removes dead letters in the view", async () => {
  await using database = await openLedgerDatabase();
  const insert = `insert into parked_message (source_id, body, reason) values ($1, decode($2, 'base64'), $3)
    on conflict (source_id) do nothing`;
  await database.query(insert, ["one", "e30=", "no reason"]);
  await database.query(insert, ["one", "e30=", "another reason"]);
  const saved = await database.query("select source_id, reason, created_at from dead_letter");
  expect(saved).toMatchObject([{ source_id: "one", reason: "no reason", created_at: expect.any(String) }]);
  const removed = await database.query(
    "delete from parked_message where id = any($1::bigint[]) returning body",
    [[1n]],
  );
  expect(removed).toHaveLength(1);
  expect(await database.query("select from dead_letter")).toEqual([]);
});

/** A migration of each kind, on a separate table. Each takes the given time, and waits while its gate is shut. */
const oneOfEachKind = (seconds = 0) => ({
  "9001-in-one-transaction.sql": `
    create table thing (id text primary key, twice integer);
    create function slow(gate integer, id text) returns text immutable language plpgsql
    as $$ begin
      while not pg_try_advisory_xact_lock_shared(gate) loop perform pg_sleep(0.01); end loop;
      perform pg_sleep(${seconds / 100});
      return id;
    end $$;
    insert into thing select n from generate_series(1, 100) as n;
    select slow(1, ''), pg_sleep(${seconds});
  `,
  "9002-in-batches.sql": `-- in batches
    with batch as (select id as key, slow(2, id) from thing where id > $1 order by id limit 7),
    changed as (update thing set twice = 2 * id::integer from batch where id = key and twice is null)
    select key from batch order by key`,
  "9003-outside.sql": `-- outside a transaction
    -- Two statements, each of which is run by itself.
    create index concurrently if not exists thing_slow on thing (slow(3, id));
    create index concurrently if not exists thing_twice on thing (twice);`,
});

async function expectOneOfEachKindApplied(database: Database): Promise<void> {
  expect(
    await database.query("select count(*)::integer, sum(twice)::integer, min(twice), max(twice) from thing"),
  ).toEqual([{ count: 100, sum: 10_100, min: 2, max: 200 }]);
  expect(
    await database.query(
      `select indexrelid::regclass::text as name from pg_index
       where indrelid = 'thing'::regclass and indisvalid and indisready order by name`,
    ),
  ).toEqual([{ name: "thing_pkey" }, { name: "thing_slow" }, { name: "thing_twice" }]);
  const recorded = await database.query<{ name: string }>("select name from migration order by name");
  expect(recorded.map(({ name }) => name)).toEqual([
    ...(await migrationNames()),
    ...Object.keys(oneOfEachKind()),
  ]);
}

test("the first line of a migration states how it is run; a failed one is rolled back, and those before it stay applied", async () => {
  await using database = await openLedgerDatabase();
  const failing = { "9004-failing.sql": "delete from thing; select 1 / 0" };
  await using migrations = await newMigrations({ ...oneOfEachKind(), ...failing });
  await expect(migrate(database, undefined, migrations.url)).rejects.toThrow("division by zero");
  await expectOneOfEachKindApplied(database);
  const applied = await database.query("select * from migration");
  await expect(migrate(database, undefined, migrations.url)).rejects.toThrow("division by zero");
  expect(await database.query("select * from migration")).toEqual(applied);
});

const outside = "-- outside a transaction";
const inBatches = "-- in batches";
/** The statements that CONTRIBUTING.md allows, by the first line. None reads or writes a whole table under a lock. */
const allowed: Record<string, RegExp[]> = {
  "": [
    /^create table \w+ \(.*\)( with \(.*\)| partition by range \(\w+\))?$/s,
    /^create table \w+ partition of \w+ default$/,
    /^create sequence \w+$/,
    /^alter table \w+ add column \w+ \w+(\[\])?(, add column \w+ \w+(\[\])?)*$/,
    // A constant is no value in a row.
    /^alter table \w+ add column \w+ \w+ not null default \d+$/,
    // Of later rows.
    /^alter table \w+ alter column \w+ set default /,
    /^alter table \w+ add constraint \w+ check \(.*\) not valid$/s,
    /^alter table \w+ drop (column|constraint) \w+$/,
    /^alter table \w+ rename (to|column \w+ to) \w+$/,
    /^create view \w+ as /,
    /^create (or replace )?function \w+\(/,
    /^do \$\w+\$ .* create function /,
    /^create (or replace )?trigger \w+ after (insert|update|delete) on \w+ referencing .* for each statement /,
    /^create trigger \w+ after update on \w+ for each row when /,
    /^create trigger \w+ before (insert|update|insert or update) on \w+ for each row /,
    /^alter table \w+ set \(fillfactor = \d+\)$/,
    // It reads a whole table without a lock that a request of the previous release would wait for.
    /^select rebuild_transaction_(hour_)?summaries\(\)$/,
    // It reads the end of an index.
    /^insert into \w+ \([\w, ]+\) select \d+, coalesce\(max\(id\), 0\) from event$/,
    // They write a row into a new table.
    /^insert into \w+ values \(\d+\)$/,
    /^insert into \w+ select now\(\), [^;]* from event_feed_epoch$/,
    /^lock table \w+ in share row exclusive mode$/,
    // It reads a table from which rows are removed after seconds.
    /^insert into transaction_change select 0, [^;]* from transaction_summary_change$/,
    // It reads what was stored since migration 0037, which an upgrade from the previous release has run just before.
    /^insert into former_settlement select [^;]* where sql_transaction >= \(select min\(sql_transaction\) from instant_position\) /,
    /^drop (table|view) \w+$/,
    /^drop function \w+\(\)$/,
    /^comment on \w+ [^']* is '/,
  ],
  [outside]: [
    /^create (unique )?index concurrently if not exists \w+ on /,
    /^drop index concurrently if exists \w+$/,
    /^alter table \w+ validate constraint \w+$/,
    /^do \$do\$ begin (comment on \w+ [^;']* is '[^;']*'; )+end \$do\$$/,
  ],
  [inBatches]: [
    /^with batch as \( ?select \w+ as key from \w+ where [^;]*\$1[^;]* order by \w+ limit \d{1,4} ?\),/,
  ],
};
/** The first migration to which the rules apply. Older ones block requests; deploy/README.md states for how long. */
const firstWithRules = "0005";

/** The statements of a migration that break the rules. */
function violationsOf(text: string): string[] {
  const [firstLine = ""] = text.split("\n", 1);
  const statements = statementsOf(text).map((statement) => statement.replaceAll(/\s+/g, " "));
  const newTables = statements.flatMap((statement) => /^create table (\w+)/.exec(statement)?.[1] ?? []);
  const isOnNewTable = (statement: string) => {
    const [, table = ""] =
      /^(?:create (?:unique )?index (?:\w+ )?on|alter table) (\w+)/.exec(statement) ?? [];
    return newTables.includes(table);
  };
  const forms = allowed[firstLine] ?? (allowed[""] as RegExp[]);
  return statements.filter(
    (statement) => !isOnNewTable(statement) && !forms.some((form) => form.test(statement)),
  );
}

test("every migration after the first four follows the rules", async () => {
  const names = (await migrationNames()).filter((name) => name >= firstWithRules);
  const violations = names.map(async (name) => [
    name,
    violationsOf(await readFile(new URL(`./migrations/${name}`, import.meta.url), "utf8")),
  ]);
  expect(Object.fromEntries(await Promise.all(violations))).toEqual(
    Object.fromEntries(names.map((name) => [name, []])),
  );
});

test.each([
  "create index on event (id)",
  "create index concurrently if not exists one on event (id)",
  "drop index one",
  "update event set live = true",
  "delete from event",
  "insert into thing select id from event",
  "alter table event add column at timestamptz not null default now()",
  "alter table event add column live boolean default true",
  "alter table event add constraint whole check (id > 0)",
  "alter table event alter column live set not null",
  "alter table event alter column id type numeric",
  "alter table event validate constraint whole",
  `${outside}\ncreate index concurrently one on event (id)`,
  `${outside}\nupdate event set live = true`,
  `${outside}\ndo $do$ begin comment on table event is 'one'; update event set live = true; end $do$`,
  `${inBatches}\nupdate event set live = true where id > $1`,
  `${inBatches}\nwith batch as (select id as key from event where live is null limit 1000),
   changed as (update event set live = true from batch where id = key) select key from batch order by key`,
])("%j is not allowed", (text) => {
  expect(violationsOf(text)).not.toEqual([]);
});

describe.runIf(process.env.TEST_DATABASE === "postgres")("on a PostgreSQL server", () => {
  test("each migration is applied once when eight processes migrate an empty database concurrently", async () => {
    await using made = await newPostgres();
    await using migrations = await newMigrations(oneOfEachKind(0.1));
    await using opened = new AsyncDisposableStack();
    const databases: Database[] = [];
    for (let count = 0; count < 8; count += 1) databases.push(opened.use(await openDatabase(made.url)));
    // Connects first, so that all migrations begin at the same time.
    await Promise.all(databases.map((database) => database.transaction((sql) => sql.query("select 1"))));
    await Promise.all(databases.map((database) => migrate(database, undefined, migrations.url)));
    await expectOneOfEachKindApplied(databases[0] as Database);
  });

  test("a migration has its own timeouts, not those of the role", async () => {
    await using server = await openDatabase(postgresServer ?? "");
    const role = `limited_${randomUUID().replaceAll("-", "")}`;
    await server.run(`
      create role ${role} login superuser;
      alter role ${role} set statement_timeout = '500ms';
      alter role ${role} set lock_timeout = '500ms';
      alter role ${role} set idle_in_transaction_session_timeout = '500ms'`);
    try {
      await using other = await openLedgerDatabase();
      await using database = await openDatabase(await urlOf(other, role));
      // A concurrent index build waits for this statement.
      const reading = other.transaction((sql) => sql.query("select count(*), pg_sleep(4) from transaction"));
      await using migrations = await newMigrations(oneOfEachKind(0.75));
      await migrate(database, undefined, migrations.url);
      await expectOneOfEachKindApplied(database);
      await reading;
    } finally {
      await server.run(`drop role ${role}`);
    }
  });

  test.each([
    ["in one transaction", 1, "create table thing"],
    ["in batches", 2, "with batch as"],
    ["outside a transaction", 3, "create index concurrently if not exists thing_slow"],
  ])("a migration that is killed %s is completed by the next process", async (_kind, gate, text) => {
    await using database = await openLedgerDatabase();
    const url = await urlOf(database);
    await using migrations = await newMigrations(oneOfEachKind());
    await whileShut(database, gate, async () => {
      const { child, exit } = run("src/ledger/tables/migrate-program.fixture.ts", {
        args: [url, migrations.url.href],
      });
      await eventually(async () => {
        const running = await database.query(
          "select from pg_stat_activity where state = 'active' and datname = current_database() and query like $1",
          [`%${text}%`],
        );
        expect(running).toHaveLength(1);
      });
      child.kill("SIGKILL");
      await exit;
    });
    await migrate(database, undefined, migrations.url);
    await expectOneOfEachKindApplied(database);
  });

  test("a process fails when its connection is terminated, and the next one completes the migration", async () => {
    await using database = await openLedgerDatabase();
    await using migrations = await newMigrations(oneOfEachKind());
    await whileShut(database, 3, async () => {
      const failing = expect(migrate(database, undefined, migrations.url)).rejects.toThrow(
        DatabaseUnavailable,
      );
      await eventually(async () => {
        const terminated = await database.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and query like 'create index concurrently if not exists thing_slow%'
             and exists (select from pg_index where not indisvalid)`,
        );
        expect(terminated).toHaveLength(1);
      });
      await failing;
    });
    expect(await database.query("select from pg_index where not indisvalid")).toHaveLength(1);
    await migrate(database, undefined, migrations.url);
    await expectOneOfEachKindApplied(database);
  });

  test("an index that a session of a killed process still builds is built anew", async () => {
    await using database = await openLedgerDatabase();
    const { "9003-outside.sql": _, ...before } = oneOfEachKind();
    await using first = await newMigrations(before);
    await migrate(database, undefined, first.url);
    await using migrations = await newMigrations(oneOfEachKind());
    const url = await urlOf(database);
    const [reader, builder] = [new pg.Client(url), new pg.Client(url)];
    await Promise.all([reader.connect(), builder.connect()]);
    // The builder waits for this snapshot, as it can wait for one of the next process.
    await reader.query("begin isolation level repeatable read; select 1");
    const building = builder.query("create index concurrently thing_slow on thing (slow(3, id))");
    const cancelled = expect(building).rejects.toThrow("canceling statement due to user request");
    await eventually(async () =>
      expect(
        await database.query(
          `select from pg_stat_progress_create_index
           where datname = current_database() and phase = 'waiting for old snapshots'`,
        ),
      ).toHaveLength(1),
    );
    const migrating = migrate(database, undefined, migrations.url);
    await cancelled;
    await reader.end();
    await migrating;
    await expectOneOfEachKindApplied(database);
    await builder.end();
  });

  test("an index that another session completes while it is to be dropped as unfinished stays", async () => {
    await using server = await startPostgres();
    // Only the commits of the builder wait for a standby, which does not exist.
    await runOn(server, "alter database postgres set synchronous_commit = local");
    await using database = await openDatabase(server.url);
    const { "9003-outside.sql": _, ...before } = oneOfEachKind();
    await using first = await newMigrations(before);
    await migrate(database, undefined, first.url);
    const setStandby = async (names: string) => {
      await runOn(server, `alter system set synchronous_standby_names = '${names}'`);
      await runOn(server, "select pg_reload_conf()");
    };
    await setStandby("none");
    const builder = new pg.Client({ connectionString: server.url, options: "-c synchronous_commit=on" });
    await builder.connect();
    const building = builder.query("create index concurrently thing_slow on thing (slow(3, id))");
    // At its last commit the builder has no lock. A cancellation ends the wait of an earlier one.
    await eventually(async () => {
      const [state] = await database.query<{ has_lock: boolean }>(
        `select exists (select from pg_locks where pg_locks.pid = builder.pid and relation = 'thing'::regclass) as has_lock
         from pg_stat_activity as builder where wait_event = 'SyncRep'`,
      );
      if (state?.has_lock) {
        await database.query(
          "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'",
        );
      }
      expect(state).toEqual({ has_lock: false });
    });
    await using migrations = await newMigrations(oneOfEachKind());
    const migrating = migrate(database, undefined, migrations.url);
    await eventually(async () =>
      expect(await database.query("select from pg_locks where not granted")).toHaveLength(1),
    );
    await setStandby("");
    await building;
    await builder.end();
    await migrating;
    await expectOneOfEachKindApplied(database);
  });

  test("a role that can only read succeeds if no migration is due", async () => {
    await using database = await openLedgerDatabase();
    const reader = `reader_${randomUUID().replaceAll("-", "")}`;
    await database.run(`create role ${reader} login; grant pg_read_all_data to ${reader}`);
    await using reading = await openDatabase(await urlOf(database, reader));
    await migrate(reading);
    await using due = await newMigrations(thing);
    await expect(migrate(reading, undefined, due.url)).rejects.toThrow("permission denied");
    await database.run(`drop owned by ${reader}; drop role ${reader}`);
  });
});

/** The URL of a database on the server for a role, by default that of the server's URL. */
async function urlOf(database: Database, role?: string): Promise<string> {
  const [row] = await database.query<{ name: string }>("select current_database()::text as name");
  const url = new URL(postgresServer ?? "");
  url.pathname = row?.name ?? "";
  if (role) url.username = role;
  return url.href;
}

/** Shuts a gate of `oneOfEachKind` during the work. */
async function whileShut(database: Database, gate: number, work: () => Promise<void>): Promise<void> {
  const limits = { idleMs: testWaitMaxMs };
  await database.transaction(async (sql) => {
    await sql.query("select pg_advisory_xact_lock($1::bigint)", [gate]);
    await work();
  }, limits);
}
