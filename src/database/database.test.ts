import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { testFixtures } from "../../testing/describe-adapters.ts";
import { eventually } from "../../testing/eventually.ts";
import { testWaitMaxMs } from "../../testing/test-wait-max.ts";
import { openLog } from "../process/log.ts";
import { type Database, DatabaseUnavailable, isPermanent, type Sql, StatementTimeout } from "./database.ts";
import { databases, openDatabase } from "./databases.ts";
import { databaseFixtures, describeOnEngines, type NewDatabase } from "./new-database.fixture.ts";

describe("a database in memory (pglite:)", () =>
  databaseTests(async () => ({ url: "pglite:memory", async [Symbol.asyncDispose]() {} })));
describeOnEngines("a database", databaseTests);
describe("a scheme of databases", () => testFixtures(databases, databaseFixtures));

function databaseTests(make: () => Promise<NewDatabase>): void {
  const opened = new AsyncDisposableStack();
  let database: Database;
  beforeAll(async () => {
    const { url } = opened.use(await make());
    database = opened.use(await openDatabase(url));
    await database.run("create table thing (id bigint primary key, at timestamptz, details jsonb); select 1");
  });
  beforeEach(() => database.run("truncate thing"));
  afterAll(() => opened.disposeAsync());

  test("values are returned as they were stored", async () => {
    await database.check();
    const details = { a: [1, null, "💷"] };
    const row = { id: 9007199254740993n, at: "2024-03-05T09:14:22.018408Z", details };
    const values = [row.id, row.at, JSON.stringify(details)];
    await database.query("insert into thing values ($1, $2, $3)", values);
    expect(await database.query("select * from thing")).toEqual([row]);
    const first = "select '0001-01-01T00:00:00Z'::timestamptz as at, 1::bigint as id";
    expect(await database.query(first)).toEqual([{ at: "0001-01-01T00:00:00.000000Z", id: 1n }]);
    const ofIds = "select from thing where id = any($1::bigint[])";
    expect(await database.query(ofIds, [[row.id]])).toHaveLength(1);
    const ofTexts = "select 1 as one where 'a\"b,{}' = any($1::text[])";
    expect(await database.query(ofTexts, [['a"b,{}', "x"]])).toHaveLength(1);
  });

  test("a statement times out if it takes too long or waits too long for a connection", async () => {
    const limited = database.within(100);
    await eventually(async () => expect(await limited.query("select 1 as one")).toEqual([{ one: 1 }]));
    await expect(limited.query("select pg_sleep(0.2)")).rejects.toThrow(new StatementTimeout(100));
    const many = Array.from({ length: 30 }, () => limited.query("select pg_sleep(0.09)", [], "custom"));
    const outcomes = await Promise.allSettled(many);
    const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? outcome.reason : []));
    expect(reasons.length).toBeGreaterThan(10);
    for (const reason of reasons) expect(reason).toEqual(new StatementTimeout(100));
    await eventually(async () => expect(await limited.query("select 2 as two")).toEqual([{ two: 2 }]));
  });

  test("the statements of a snapshot see one state, and change nothing", async () => {
    const limited = database.within(testWaitMaxMs);
    const insert = "insert into thing (id) values ($1)";
    await database.query(insert, [1]);
    await limited.snapshot(async (sql) => {
      const seen = () => sql.query("select id from thing");
      expect(await seen()).toEqual([{ id: 1n }]);
      const written = database.query(insert, [2]);
      // The embedded engine has one connection.
      if (database.signals) await written;
      expect(await seen()).toEqual([{ id: 1n }]);
      return { written };
    });
    await eventually(async () => expect(await limited.query("select id from thing")).toHaveLength(2));
    await expect(limited.snapshot((sql) => sql.query(insert, [3]))).rejects.toThrow(/read-only/);
    await expect(limited.snapshot(() => Promise.reject(new Error("planted")))).rejects.toThrow("planted");
    expect(await limited.snapshot((sql) => sql.query("select count(*) from thing"))).toEqual([{ count: 2n }]);
  });

  test("a snapshot times out as a whole", async () => {
    const limited = database.within(200);
    const statements: Promise<unknown>[] = [];
    const work = async (sql: Sql) => {
      for (;;) {
        const statement = sql.query("select pg_sleep(0.02)");
        statements.push(statement);
        await statement;
      }
    };
    await expect(limited.snapshot(work)).rejects.toThrow(new StatementTimeout(200));
    await eventually(async () =>
      expect(await Promise.allSettled(statements)).toContainEqual({
        status: "rejected",
        reason: new StatementTimeout(200),
      }),
    );
    const slow = limited.snapshot((sql) => sql.query("select pg_sleep(0.4)"));
    await expect(slow).rejects.toThrow(new StatementTimeout(200));
    await eventually(async () =>
      expect(await limited.snapshot((sql) => sql.query("select 2 as two"))).toEqual([{ two: 2 }]),
    );
  });

  const raise = (code: string) => `do $$ begin raise exception 'planted' using errcode = '${code}'; end $$`;

  test.each([
    ["a serialization failure", "40001"],
    ["a deadlock", "40P01"],
    ["a full disk", "53100"],
    ["a disk error", "58030"],
    ["a lock timeout", "55P03"],
    ["a statement timeout", "57014"],
    ["an idle timeout", "25P03"],
  ])("%s is a transient error", async (_name, code) => {
    await expect(database.run(raise(code))).rejects.toThrow(DatabaseUnavailable);
    await expect(database.query(raise(code))).rejects.toThrow(DatabaseUnavailable);
    await expect(database.transaction((sql) => sql.run(raise(code)))).rejects.toThrow(DatabaseUnavailable);
  });

  test("work that resolves is committed, with its result, and work that rejects is rolled back", async () => {
    const insert = (id: number, end: () => unknown) =>
      database.transaction(async (sql) => {
        await sql.query("insert into thing (id) values ($1)", [id]);
        return end();
      });
    const failing = insert(1, () => Promise.reject(new Error("planted")));
    await expect(failing).rejects.toThrow("planted");
    expect(await insert(2, () => "done")).toBe("done");
    expect(await database.query("select id from thing")).toEqual([{ id: 2n }]);
  });

  test("exclusive work can run transactions, and statements outside any; it releases the lock", async () => {
    const failing = database.exclusively("one", () => Promise.reject(new Error("planted")));
    await expect(failing).rejects.toThrow("planted");
    const result = await database.exclusively("one", async () => {
      await database.transaction((sql) => sql.query("insert into thing (id) values (3)"));
      await database.runOutside("create index concurrently thing_at on thing (at)");
      await database.runOutside("drop index concurrently thing_at");
      return "done";
    });
    expect(result).toBe("done");
    expect(await database.query("select id from thing")).toEqual([{ id: 3n }]);
    await expect(database.runOutside("select 1 / 0")).rejects.toMatchObject({ code: "22012" });
  });

  test("a logged error does not contain the values of the statement", async () => {
    const lines: string[] = [];
    const log = openLog("error", { write: (line) => lines.push(line) });
    await database
      .query("insert into thing (id, details) values ($1, $2)", ["1", "planted"])
      .catch((err: unknown) => log.error({ err }, "failed"));
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ msg: "failed", err: { code: "22P02" } });
    expect(lines[0]).not.toContain("planted");
  });

  test.each([
    ["select 1 / 0", true],
    ["insert into thing (id) values (7), (7)", true],
    ["select '\\u0000'::jsonb, '\"\\u0000\"'::jsonb", true],
    ["select from nowhere", false],
    [raise("22003"), true],
  ])("the error of %s is permanent: %s", async (statement, expected) => {
    const error = await database.query(statement).catch((caught: unknown) => caught);
    expect(isPermanent(error)).toBe(expected);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(DatabaseUnavailable);
  });
}
