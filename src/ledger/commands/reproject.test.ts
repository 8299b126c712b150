import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../../../testing/run.ts";
import type { Database } from "../../database/database.ts";
import { openDatabase } from "../../database/databases.ts";
import { describeOnEngines } from "../../database/new-database.fixture.ts";
import { ingest } from "../intake/ingest.ts";
import { migrate } from "../tables/migrate.ts";
import { readDemoEvents } from "./demo-events.fixture.ts";

/** Makes one difference of each kind between rows and their events. */
const corruption = `
  update transaction set state = 'ERROR', details = details - 'reference' where external_id = 'demo-success';
  delete from transaction where external_id in ('demo-expired', 'demo-refund');
  insert into transaction (external_id, transaction_type, gateway_account_id, state, created_date, event_count,
                           first_event_id, details)
  values ('demo-ghost', 'PAYMENT', 'other', 'SUCCESS', now(), 1, 1, '{}');
  delete from payout;
  insert into payout (gateway_payout_id, gateway_account_id, state, created_date, event_count, details)
  values ('ghost-payout', 'other', 'PAID_OUT', now(), 1, '{}');
  update agreement set state = 'INACTIVE', cancelled_date = now();
  update payment_instrument set service_id = 'other';
  delete from metadata_key where key = (select min(key) from metadata_key);
  select merge_transaction_summary_changes(1000);
  update transaction_summary set count = count + 1, fee = 7
  where gateway_account_id = 'demo' and grain = 'ever' and state = 'FAILED_REJECTED'`;

describeOnEngines("reproject", (make) => {
  const rowsIn = async (database: Database) => [
    await database.query("select * from transaction order by external_id"),
    (await database.query<object>("select * from payout")).map((row) => ({ ...row, known_since: undefined })),
    await database.query("select * from agreement"),
    await database.query("select * from payment_instrument"),
    await database.query("select gateway_account_id, key from metadata_key order by key"),
  ];
  /** Makes a database that contains the events of the demonstration and corrupt rows. */
  async function newCorrupted() {
    const made = await make();
    await using database = await openDatabase(made.url);
    await migrate(database);
    await ingest(database, { events: readDemoEvents(), rebuilds: [], deadLetters: [] });
    const rowsBefore = await rowsIn(database);
    await database.run(corruption);
    return {
      url: made.url,
      rowsBefore,
      reproject: (...args: string[]) =>
        run("src/ledger/commands/reproject.ts", { args, env: { DATABASE_URL: made.url } }).exit,
      [Symbol.asyncDispose]: () => made[Symbol.asyncDispose](),
    };
  }
  /** For tests that only read. */
  let shared: Awaited<ReturnType<typeof newCorrupted>>;
  beforeAll(async () => {
    shared = await newCorrupted();
  });
  afterAll(() => shared[Symbol.asyncDispose]());
  const reproject = (...args: string[]) => shared.reproject(...args);

  test("rejects unknown ids", async () => {
    expect(await reproject("demo-success", "nobody", "no-one")).toEqual({
      code: 1,
      output: "",
      errors: "reproject: no event and no row has the id nobody, no-one\n",
    });
  });

  test("with --verify lists each row that differs, with the columns, and writes nothing", async () => {
    const verified = await reproject("--all", "--verify");
    expect(
      verified.output
        .replaceAll(/merge \d+/g, "merge N")
        .trim()
        .split("\n")
        .sort(),
    ).toEqual(
      [
        'metadata key "branch" of account demo: has events and no row',
        "agreement demo-agreement: state, cancelled_date",
        "payment instrument demo-card: service_id",
        "payout demo-payout: has events and no row",
        "payout ghost-payout: has a row and no events",
        "transaction demo-expired: has events and no row",
        "transaction demo-ghost: has a row and no events",
        "transaction demo-refund: has events and no row",
        // Versions are compared with the summary less its later changes, so they differ, too.
        ...["count, amount, gross_amount", "count, fee"].map(
          (columns) =>
            `summary of account demo, ever -infinity, PAYMENT FAILED_REJECTED, live true, moto false (version of merge N): ${columns}`,
        ),
        "summary of account demo, ever -infinity, PAYMENT FAILED_REJECTED, live true, moto false: count, fee",
        "transaction demo-success: details, state",
        "verified 11 resources",
        "verified the summaries",
      ].sort(),
    );
    expect([verified.code, verified.errors]).toEqual([1, "reproject: 12 rows differ from their events\n"]);
    expect(await reproject("--all", "--verify")).toEqual(verified);
  });

  test("verifies one account, or the given ids", async () => {
    expect((await reproject("--account", "other", "--verify")).output).toMatch(/ghost[\s\S]*verified 2 /);
    expect(await reproject("demo-rejected", "demo-dispute", "--verify")).toMatchObject({
      code: 0,
      output: "verified 2 resources\n",
    });
    const ofAccount = (await reproject("--account", "demo", "--verify")).output;
    // Its events do not name the account; its agreement does.
    expect(ofAccount).toContain("payment instrument demo-card: service_id\n");
  });

  test("rebuilds the given ids, or everything", async () => {
    await using own = await newCorrupted();
    const { url, rowsBefore, reproject } = own;
    expect((await reproject("demo-success")).output).toMatch(/^rebuilt 1 resources; [12] rows changed\n$/);
    expect((await reproject("demo-success")).output).toBe("rebuilt 1 resources; 0 rows changed\n");
    expect((await reproject("demo-success", "--verify")).code).toBe(0);
    expect(await reproject("--all")).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^rebuilt 11 resources; \d+ rows changed\nrebuilt the summaries\n$/),
    });
    expect((await reproject("--all", "--verify")).code).toBe(0);
    await using database = await openDatabase(url);
    expect(await rowsIn(database)).toEqual(rowsBefore);
  });
});

describeOnEngines("reproject with many transactions", (make) => {
  test("processes all of them, also those of an account without rows", async () => {
    await using made = await make();
    const count = 3000;
    const env = { DATABASE_URL: made.url };
    {
      await using database = await openDatabase(made.url);
      await migrate(database);
      await database.run(`
        insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
        select 'payment', 'many' || n, now(), 'PAYMENT_CREATED', '{"gateway_account_id": "57"}'
        from generate_series(1, ${count}) as n`);
    }
    const reproject = (...args: string[]) => run("src/ledger/commands/reproject.ts", { args, env });
    const verified = await reproject("--account", "57", "--verify").exit;
    expect(verified).toMatchObject({ code: 1, errors: expect.stringContaining("3,000 rows differ") });
    expect(verified.output.trim().split("\n")).toHaveLength(count + 1);
    expect(await reproject("--account", "57").exit).toMatchObject({
      code: 0,
      output: "rebuilt 3,000 resources; 3,000 rows changed\n",
    });
    expect(await reproject("--all", "--verify").exit).toMatchObject({
      code: 0,
      output: "verified 3,000 resources\nverified the summaries\n",
    });
  });
});

test.each([
  [[], "expected one of --all, --account ACCOUNT and ID..."],
  [["--all", "demo-success"], "expected one of"],
  [["--all", "--account", "demo"], "expected one of"],
  [["--account"], "--account"],
  [["--some"], "--some"],
])("reproject %j fails with a usage error", async (args, complaint) => {
  const { code, output, errors } = await run("src/ledger/commands/reproject.ts", { args }).exit;
  expect([code, output]).toEqual([2, ""]);
  expect(errors).toMatch(/^reproject: .*\n$/);
  expect(errors).toContain(complaint);
});
