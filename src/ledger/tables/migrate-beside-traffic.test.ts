import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import type { Database } from "../../database/database.ts";
import { openDatabase } from "../../database/databases.ts";
import { newPostgres, postgresServer } from "../../database/new-database.fixture.ts";
import { migrate } from "./migrate.ts";
import { migrationNames, newMigrations } from "./migrations.fixture.ts";
import { differingOutlines } from "./search/outline.ts";
import { summaryDifferences } from "./summary/upkeep.ts";

const rows = 200_000;
const newestOfPreviousRelease = "0004-children-of-their-own-account.sql";
/**
 * How often each worker of the previous release completes its work while a read blocks each exclusive lock of a migration:
 * the read ends after this many rounds, or when the migration was not blocked.
 */
const roundsMin = 50;

const fill = `
  insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
  select 'payment', 'id' || n, timestamptz '2024-01-01Z' + n * interval '4 minutes', 'PAYMENT_CREATED', '{"amount": 1}'
  from generate_series(1, ${rows}) as n;
  insert into transaction (external_id, transaction_type, gateway_account_id, state, created_date, event_count,
    first_event_id, reference, details)
  select 'id' || n, 'PAYMENT', n % 100, 'CREATED', timestamptz '2024-01-01Z' + n * interval '4 minutes', 1, n,
    left(md5(n::text), 8), jsonb_build_object('amount', n)
  from generate_series(1, ${rows}) as n`;

/** A migration of each kind that CONTRIBUTING.md allows, on the tables that are read and written meanwhile. */
const addedMigrations = {
  "9001-column.sql": "alter table transaction add column digits text",
  "9002-values.sql": `-- in batches
    with batch as (
      select external_id as key from transaction where external_id > $1 order by external_id limit 1000
    ), changed as (
      update transaction set digits = details ->> 'amount' from batch where external_id = key and digits is null
    )
    select key from batch order by key`,
  "9003-indexes.sql": `-- outside a transaction
    create index concurrently if not exists transaction_digits on transaction (digits);
    create index concurrently if not exists event_type_at on event (event_type, timestamp);
    drop index concurrently if exists transaction_card_brand_idx`,
  "9004-check.sql":
    "alter table transaction add constraint digits_is_short check (length(digits) < 100) not valid",
  "9005-checked.sql": `-- outside a transaction
    alter table transaction validate constraint digits_is_short`,
  "9006-less.sql": "alter table transaction drop column digits",
};

describeIfAvailable("TEST_POSTGRES_URL", postgresServer !== undefined)(
  "while the tables are migrated",
  () => {
    test("processes of the previous release read and write, and none waits for a long reader", async () => {
      await using made = await newPostgres();
      await using database = await openDatabase(made.url);
      await using before = await newMigrations({}, newestOfPreviousRelease);
      await migrate(database, undefined, before.url);
      const withoutLimit = database.within(testWaitMaxMs);
      await withoutLimit.run(fill);
      await withoutLimit.run("vacuum analyze");

      await using traffic = startTraffic(database);
      const names = (await migrationNames()).filter((name) => name > newestOfPreviousRelease);
      const blocked: string[] = [];
      for (const name of [...names, ...Object.keys(addedMigrations)]) {
        await using migrations = await newMigrations(
          Object.fromEntries(Object.entries(addedMigrations).filter(([added]) => added <= name)),
          name,
        );
        const readBegan = Promise.withResolvers<void>();
        let isMigrated = false;
        const reading = database.transaction(async (sql) => {
          await sql.query("select from transaction where external_id = 'id1'");
          readBegan.resolve();
          const end = traffic.rounds() + roundsMin;
          while (!isMigrated && traffic.rounds() < end) await sql.query("select pg_sleep(0.05)");
          if (!isMigrated) blocked.push(name);
        });
        await Promise.race([readBegan.promise, reading]);
        await migrate(database, undefined, migrations.url);
        isMigrated = true;
        await reading;
      }
      expect(await traffic.stop()).toEqual([]);

      // The read blocked these.
      expect(blocked).toEqual(
        expect.arrayContaining(["9001-column.sql", "9003-indexes.sql", "9004-check.sql", "9006-less.sql"]),
      );
      const applied = await database.query<{ name: string }>("select name from migration order by name");
      expect(applied.map(({ name }) => name)).toEqual([
        ...(await migrationNames()),
        ...Object.keys(addedMigrations),
      ]);
      expect(await summaryDifferences(withoutLimit, 10)).toEqual([]);
      const ids = await withoutLimit.query<{ external_id: string }>("select external_id from transaction");
      expect(ids.length).toBeGreaterThan(rows);
      expect(
        await differingOutlines(
          withoutLimit,
          ids.map(({ external_id }) => external_id),
        ),
      ).toEqual([]);
    });
  },
);

/** Work of the previous release, by four workers, until `stop`, which resolves with the failures. */
function startTraffic(database: Database) {
  const stop = new AbortController();
  const failures: unknown[] = [];
  const workers = [lookUp, lookUp, ingest, ingest];
  const rounds = workers.map(() => 0);
  const running = workers.map(async (work, worker) => {
    for (let count = 0; !stop.signal.aborted; count += 1) {
      await work(database, count * 2 + (worker % 2)).catch((error: unknown) => failures.push(error));
      rounds[worker] = count + 1;
      await sleep(5);
    }
  });
  const stopped = async () => {
    stop.abort();
    await Promise.all(running);
    return failures;
  };
  return {
    /** How often the slowest worker has completed its work. */
    rounds: () => Math.min(...rounds),
    stop: stopped,
    [Symbol.asyncDispose]: async () => void (await stopped()),
  };
}

/** The id of one of the transactions, in no order. */
const idOf = (count: number) => `id${1 + ((count * 7919) % rows)}`;

/** Reads a transaction with the statement of the previous release. */
async function lookUp(database: Database, count: number): Promise<void> {
  const found = await database.query(
    `select external_id, transaction_type, gateway_account_id, state, created_date, details, payment_details
     from transaction where external_id = $1`,
    [idOf(count)],
  );
  if (found.length !== 1) throw new Error("a transaction was not found");
}

/** Stores an event of an existing or a new transaction with the statements of the previous release. */
async function ingest(database: Database, count: number): Promise<void> {
  const id = count % 3 === 0 ? `new${count}` : idOf(count);
  await database.transaction(async (sql) => {
    await sql.query(
      `select pg_advisory_xact_lock(hashtextextended(id, 0)) is null from (
         select $1::text as id union select parent_external_id from transaction where external_id = $1
       ) as held where id is not null`,
      [id],
    );
    const [event] = await sql.query<{ id: bigint }>(
      `insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
       values ('payment', $1, now(), $2, '{}') returning id`,
      [id, `EVENT_${count}`],
    );
    await sql.query("select external_id from transaction where parent_external_id = $1", [id]);
    await sql.query(
      `insert into transaction (external_id, transaction_type, gateway_account_id, state, created_date, event_count,
         first_event_id, reference, metadata_values, details)
       values ($1, 'PAYMENT', '57', 'CREATED', now(), 1, $2, 'new', null, '{}')
       on conflict (external_id) do update set event_count = transaction.event_count + 1, reference = excluded.reference`,
      [id, event?.id],
    );
  });
}
