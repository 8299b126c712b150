import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeIfAvailable } from "../../../../testing/describe-if-available.ts";
import { eventually } from "../../../../testing/eventually.ts";
import { runOn } from "../../../../testing/servers/postgres.ts";
import { startService } from "../../../../testing/services.ts";
import { openDatabase } from "../../../database/databases.ts";
import { newPostgres, postgresServer } from "../../../database/new-database.fixture.ts";
import { statusOf } from "../../../http/service.fixture.ts";
import { openLog } from "../../../process/log.ts";
import { add, featuresOf } from "../new-store.fixture.ts";
import { openFeatureStore } from "../stores.ts";

const folder = new URL("./migrations/", import.meta.url);
const files = (await readdir(folder)).sort();
const firstWithChecksum = "0003";
const previousFiles = files.filter((name) => name < firstWithChecksum);

/** The statements of the previous release in an empty database: one transaction, which records no checksums. */
async function createAsPreviousRelease(url: string, beforeCommit = async () => {}): Promise<void> {
  await using database = await openDatabase(url);
  await database.transaction(async (sql) => {
    await sql.query("select pg_advisory_xact_lock(hashtext('feature_storage'), 0)");
    await sql.run(`
      create schema if not exists feature_storage;
      create table if not exists feature_storage.migration (
        name text primary key,
        applied_at timestamptz not null default now()
      )`);
    for (const name of previousFiles) {
      await sql.run(await readFile(new URL(name, folder), "utf8"));
      await sql.query("insert into feature_storage.migration (name) values ($1)", [name]);
    }
    await beforeCommit();
  });
}

/** A log whose lines can be read. */
function openLines() {
  const lines: { level: number; msg: string; migration?: string }[] = [];
  const log = openLog("info", { write: (line) => lines.push(JSON.parse(line)) });
  return { lines, log, texts: () => lines.map(({ msg }) => msg) };
}

const migrationsOf = async (made: { url: string }) =>
  (await runOn(made, "select name, checksum from feature_storage.migration order by name")).rows;

/** All that the tables contain, besides the checksums. */
async function contentOf(made: { url: string }) {
  const tables = ["feed", "change", "feature", "feature_use", "resource_life", "feature_list", "migration"];
  const rows = tables.map(async (table) => [
    table,
    (
      await runOn(
        made,
        `select to_jsonb(t) - 'checksum' as row from feature_storage.${table} t
         where to_jsonb(t) ->> 'name' is null or to_jsonb(t) ->> 'name' < '${firstWithChecksum}' order by 1`,
      )
    ).rows,
  ]);
  return Object.fromEntries(await Promise.all(rows));
}

describeIfAvailable("TEST_POSTGRES_URL", postgresServer !== undefined)("the schema of a store", () => {
  test("of the previous release is migrated, and all of its rows stay as they are", async () => {
    await using made = await newPostgres();
    await createAsPreviousRelease(made.url);
    const change = { type: "add", feature: "a", expiresAt: 4_000_000_000_000 };
    const request = { resource: "kind", id: "1", additions: 1, changes: [change] };
    const outcome = await runOn(
      made,
      `select feature_storage.change('${JSON.stringify([request])}', 0, 1000, 100000) as had`,
    );
    expect(outcome.rows).toEqual([{ had: [[false]] }]);
    const before = await contentOf(made);
    expect(before.feature).toHaveLength(1);

    const { log, texts } = openLines();
    await using store = await openFeatureStore(made.url, undefined, log);
    expect(texts()).toEqual([
      expect.stringMatching(/^migrated the schema feature_storage in \d+\.\d s: 0003-[\w-]+\.sql$/),
    ]);
    expect(await contentOf(made)).toEqual(before);
    expect(await featuresOf(store, "kind", "1")).toEqual(["a"]);
    expect(await store.change("kind", "1", [add("b")])).toEqual({ had: [false] });
    expect(await migrationsOf(made)).toEqual(
      files.map((name) => ({ name, checksum: expect.stringMatching(/^[\da-f]{64}$/) })),
    );
    await using again = await openFeatureStore(made.url, undefined, log);
    expect(await featuresOf(again, "kind", "1")).toEqual(["a", "b"]);
    expect(texts()).toHaveLength(1);
  });

  test("is not created again while a process of the previous release creates it", async () => {
    await using made = await newPostgres();
    let opening: ReturnType<typeof openFeatureStore> | undefined;
    await createAsPreviousRelease(made.url, async () => {
      opening = openFeatureStore(made.url);
      await eventually(async () => {
        const { rows } = await runOn(
          made,
          `select from pg_stat_activity
           where datname = current_database() and application_name = 'feature-storage'`,
        );
        expect(rows).not.toEqual([]);
      });
    });
    await using store = await (opening as ReturnType<typeof openFeatureStore>);
    expect(await store.change("kind", "1", [add("a")])).toEqual({ had: [false] });
    expect((await migrationsOf(made)).map(({ name }) => name)).toEqual(files);
  });

  test("is created once by two processes that start at the same time, which report it", async () => {
    await using made = await newPostgres();
    const start = () => startService("features", { env: { FEATURES_STORE_URL: made.url } });
    const services = await Promise.all([start(), start()]);
    await using started = new AsyncDisposableStack();
    for (const service of services) started.use(service);
    for (const { url } of services) expect(await statusOf(`${url}/features/customer/1`)).toBe(200);
    expect((await migrationsOf(made)).map(({ name }) => name)).toEqual(files);
    const logs = await Promise.all(services.map((one) => readFile(join(one.folder, "log"), "utf8")));
    expect(logs.join()).toContain("creating the schema feature_storage");
  });

  test("is not used if a file of its migrations has changed", async () => {
    await using made = await newPostgres();
    await (await openFeatureStore(made.url))[Symbol.asyncDispose]();
    const [first = ""] = files;
    await runOn(made, `update feature_storage.migration set checksum = 'other' where name = '${first}'`);
    await expect(openFeatureStore(made.url)).rejects.toThrow(
      `the migration ${first} has changed since it was applied; write a new migration instead`,
    );
  });

  test("is migrated when a lock is free, which is awaited again and again", async () => {
    await using made = await newPostgres();
    const { lines, log } = openLines();
    const retries = () =>
      lines.filter(({ msg }) => msg === "another session was in the way; the migration is retried");
    await using operator = await openDatabase(made.url);
    const limits = { idleMs: 600_000 };
    let opening: ReturnType<typeof openFeatureStore> | undefined;
    await operator.run("create schema feature_storage");
    const rolledBack = operator.transaction(async (sql) => {
      // The name is locked until this transaction ends, and free again if it is rolled back.
      await sql.run("create table feature_storage.feed (other text)");
      opening = openFeatureStore(made.url, undefined, log);
      await eventually(() => expect(retries().length).toBeGreaterThan(1));
      throw new Error("rolled back");
    }, limits);
    await expect(rolledBack).rejects.toThrow("rolled back");
    await using store = await (opening as ReturnType<typeof openFeatureStore>);
    expect(await featuresOf(store, "kind", "1")).toEqual([]);
    expect(retries()[0]).toMatchObject({ migration: files[0] });
  });

  test("has migrations of its own beside those of the ledger in one database", async () => {
    await using made = await newPostgres();
    const env = { DATABASE_URL: made.url, QUEUE_URL: "memory:" };
    await using ledger = await startService("ledger", { env, path: "/healthcheck" });
    await using store = await openFeatureStore(made.url);
    expect(await featuresOf(store, "kind", "1")).toEqual([]);
    expect(await statusOf(`${ledger.url}/healthcheck`)).toBe(200);
    const of = async (table: string) =>
      (await runOn(made, `select name from ${table} order by name`)).rows.map(({ name }) => name);
    expect(await of("feature_storage.migration")).toEqual(files);
    const ofLedger = (await readdir(new URL("../../../ledger/tables/migrations/", import.meta.url))).sort();
    expect(await of("public.migration")).toEqual(ofLedger);
  });
});
