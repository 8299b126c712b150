import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import npmPackage from "../../../package.json" with { type: "json" };
import { runProcess } from "../../../testing/child-process.ts";
import { type Database, DatabaseUnavailable, StatementTimeout } from "../database.ts";
import { openCommandDatabase, openDatabase } from "../databases.ts";
import { type NewDatabase, newEmbedded } from "../new-database.fixture.ts";

let made: NewDatabase;
let database: Database;
const opened = new AsyncDisposableStack();
beforeAll(async () => {
  made = opened.use(await newEmbedded());
  database = opened.use(await openDatabase(made.url));
  await database.run("create table thing (id int)");
});
afterAll(() => opened.disposeAsync());

const folderOf = (url: string) => decodeURIComponent(new URL(url).pathname);

test("a new database is the one that the installed engine makes (npm run embedded-database)", async () => {
  const version = await readFile(join(folderOf(made.url), "pglite/pglite_version"), "utf8");
  expect(version.trim()).toBe(npmPackage.dependencies["@electric-sql/pglite"]);
});

test("the event loop goes on while a statement runs", async () => {
  let isRunning = true;
  const statement = database.query("select count(*) from generate_series(1, 1000000)");
  const ended = statement.then(() => {
    isRunning = false;
  });
  let turns = 0;
  for (; isRunning; turns += 1) await setImmediate();
  await ended;
  // In this thread, it would take a few turns.
  expect(turns).toBeGreaterThan(100);
});

test("a statement whose limit passed while it waited does not run", async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const transaction = database.transaction(() => end);
  const late = database.within(50).query("insert into thing values (1)");
  await expect(late).rejects.toThrow(new StatementTimeout(50));
  resolve();
  await transaction;
  expect(await database.query("select from thing where id = 1")).toEqual([]);
});

test("statements wait for a transaction that began before them, and see its work", async () => {
  const transaction = database.transaction(async (sql) => {
    await sql.query("insert into thing values (2)");
    await sql.query("select pg_sleep(0.1)");
  });
  const seen = database.query("select from thing where id = 2");
  await transaction;
  expect(await seen).toHaveLength(1);
});

test("a transaction whose failed statement was ignored rejects, and nothing runs in it after its end", async () => {
  const ignoring = database.transaction(async (sql) => {
    await sql.query("insert into thing values (3)");
    await sql.query("select 1 / 0").catch(() => {});
  });
  await expect(ignoring).rejects.toThrow("rolled back");
  const late = Promise.withResolvers<unknown>();
  await database.transaction(async (sql) => {
    setTimeout(() => late.resolve(sql.query("insert into thing values (3)")), 50);
  });
  await expect(late.promise).rejects.toThrow("the transaction has ended");
  expect(await database.query("select from thing where id = 3")).toEqual([]);
});

test("bytes and exact numbers are returned as they were sent", async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  const read = `select $1::bytea as bytes, encode($1::bytea, 'hex') as text, '{"n": 1.00000000000000000001}'::jsonb as json`;
  const [row] = await database.query<{ bytes: Uint8Array; text: string; json: object }>(read, [bytes]);
  const hex = Buffer.from(bytes).toString("hex");
  expect([Buffer.from(row?.bytes ?? []).toString("hex"), row?.text]).toEqual([hex, hex]);
  expect(JSON.stringify(row?.json)).toBe('{"n":1.00000000000000000001}');
});

test("a statement is usable after the columns of its table have changed, and after many others", async () => {
  await database.run("create table changing (one int); insert into changing values (1)");
  expect(await database.query("select * from changing")).toEqual([{ one: 1 }]);
  await database.run("alter table changing add two int");
  expect(await database.query("select * from changing")).toEqual([{ one: 1, two: null }]);
  for (let number = 0; number < 250; number++) await database.query(`select ${number}`);
  expect(await database.query("select * from changing")).toEqual([{ one: 1, two: null }]);
});

test("a running statement is completed before the database is closed; a later one is rejected", async () => {
  await using own = await newEmbedded();
  const closing = await openDatabase(own.url);
  const running = closing.query("select pg_sleep(0.2), 1 as one");
  const closed = closing[Symbol.asyncDispose]();
  expect(await running).toMatchObject([{ one: 1 }]);
  await closed;
  await expect(closing.query("select 1")).rejects.toThrow("the database is closed");
});

test("a crash, here of a stack that is too small, is an outage, and the engine is replaced", async () => {
  await database.query("insert into thing values (4)");
  const deep = database.query("select repeat('[', 200000)::jsonb");
  const behind = database.query("select id from thing where id = 4");
  await expect(deep).rejects.toThrow(DatabaseUnavailable);
  expect(await behind).toEqual([{ id: 4 }]);
});

test("an open database does not keep its process alive; an incomplete one of an interrupted start is replaced", async () => {
  await using own = await newEmbedded();
  await mkdir(join(folderOf(own.url), "pglite.new-planted"));
  const module = fileURLToPath(new URL("../databases.ts", import.meta.url));
  const program = `
    import { openDatabase } from ${JSON.stringify(module)};
    const database = await openDatabase(process.argv[1]);
    console.log(JSON.stringify(await database.query("select 1 as one")));`;
  const command = [process.execPath, "--input-type=module", "--eval", program, own.url];
  expect(await runProcess(command)).toMatchObject({ code: 0, output: '[{"one":1}]\n', errors: "" });
  expect(await readdir(folderOf(own.url))).not.toContain("pglite.new-planted");
});

test("a command uses the engine of the process that has the folder, in transactions and with its errors", async () => {
  await using joined = await openCommandDatabase(made.url);
  await joined.transaction((sql) => sql.query("insert into thing values ($1)", [1001]));
  const undone = joined.transaction(async (sql) => {
    await sql.query("delete from thing where id = 1001");
    throw new Error("planted");
  });
  await expect(undone).rejects.toThrow("planted");
  await expect(joined.query("select from nowhere")).rejects.toThrow('relation "nowhere" does not exist');
  expect(await database.query("select id from thing where id = 1001")).toEqual([{ id: 1001 }]);
});

test("a folder without a database of the engine is reported", async () => {
  await using own = await newEmbedded();
  await mkdir(join(folderOf(own.url), "pglite"));
  await writeFile(join(folderOf(own.url), "pglite/PG_VERSION"), "3\n");
  await expect(openDatabase(own.url)).rejects.toThrow(/does not start .*; restore the folder from a backup/);
});
