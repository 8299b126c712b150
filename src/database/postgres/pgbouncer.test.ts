import { afterAll, beforeAll, expect, test } from "vitest";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { isPgbouncerInstalled, startPgbouncer } from "../../../testing/servers/pgbouncer.ts";
import { isPostgresInstalled, startPostgres } from "../../../testing/servers/postgres.ts";
import type { TestServer } from "../../../testing/servers/server.ts";
import { DatabaseUnavailable, StatementTimeout } from "../database.ts";
import { openDatabase } from "../databases.ts";

const areInstalled = isPostgresInstalled() && isPgbouncerInstalled();
describeIfAvailable("PostgreSQL or PgBouncer", areInstalled)(
  "a PgBouncer whose clients share one session",
  () => {
    let server: TestServer;
    let pooler: TestServer;
    const opened = new AsyncDisposableStack();
    beforeAll(async () => {
      server = opened.use(await startPostgres());
      pooler = opened.use(await startPgbouncer(server, "pool_mode = transaction", "default_pool_size = 1"));
    });
    afterAll(() => opened.disposeAsync());

    test("runs for each process the statement that it sent", async () => {
      await using one = await openDatabase(pooler.url);
      await using other = await openDatabase(pooler.url);
      const requests = new Map([one, other].map((database) => [database, database.within(60_000)]));
      for (const [database, label] of [
        [one, "one"],
        [other, "other"],
        [one, "one"],
      ] as const) {
        const statement = `select '${label}' as label, $1::int as n`;
        const expected = [{ label, n: 7 }];
        expect(await requests.get(database)?.query(statement, [7])).toEqual(expected);
        expect(await requests.get(database)?.query(statement, [7], "custom")).toEqual(expected);
        expect(await database.query(statement, [7])).toEqual(expected);
        expect(await database.transaction((sql) => sql.query(statement, [7]))).toEqual(expected);
      }
      const many = Array.from({ length: 200 }, (_, n) =>
        requests.get(n % 2 ? one : other)?.query(`select ${n % 7} as own, $1::int as n`, [n]),
      );
      expect(await Promise.all(many)).toEqual(many.map((_, n) => [{ own: n % 7, n }]));
    });

    test("passes the signals of a process on, which hears none itself", async () => {
      await using pooled = await openDatabase(pooler.url);
      await using direct = await openDatabase(server.url);
      const heard = { pooled: 0, direct: 0 };
      const signals = [pooled, direct].map((database, index) =>
        database.signals?.("test", () => {
          heard[index === 0 ? "pooled" : "direct"] += 1;
        }),
      );
      // It may have missed some until now.
      await eventually(() => expect(heard.direct).toBe(1));
      signals[0]?.send();
      await eventually(() => expect(heard.direct).toBe(2));
      expect(heard.pooled).toBe(0);
      for (const one of signals) await one?.[Symbol.asyncDispose]();
    });

    test("has the limits in each transaction, and not after it", async () => {
      await using database = await openDatabase(pooler.url);
      const limits =
        "select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock";
      const defaults = [{ statement: "10s", lock: "8s" }];
      expect(await database.query(limits)).toEqual(defaults);
      expect(await database.transaction((sql) => sql.query(limits))).toEqual(defaults);
      const own = database.transaction((sql) => sql.query(limits), { statementMs: 60_000, lockMs: 3000 });
      expect(await own).toEqual([{ statement: "1min", lock: "3s" }]);
      expect(await database.within(7000).query(limits)).toEqual([{ statement: "7s", lock: "7s" }]);
      // `run` does not begin a transaction with limits.
      await database.run(`create table seen as ${limits}`);
      expect(await database.query("select * from seen")).toEqual([{ statement: "0", lock: "0" }]);
    });

    test("is usable after a statement that failed or timed out", async () => {
      await using database = await openDatabase(pooler.url);
      const requests = database.within(300);
      await eventually(() => requests.query("select 1"));
      for (const plan of ["prepared", "custom"] as const) {
        await eventually(() =>
          expect(requests.query("select 1 / $1::int", [0], plan)).rejects.toMatchObject({ code: "22012" }),
        );
        await expect(requests.query("select pg_sleep(1)", [], plan)).rejects.toThrow(StatementTimeout);
        await eventually(async () => expect(await requests.query("select 2 as two")).toEqual([{ two: 2 }]));
      }
      const slow = database.transaction((sql) => sql.query("select pg_sleep(1)"), { statementMs: 100 });
      await expect(slow).rejects.toThrow(DatabaseUnavailable);
      expect(await database.transaction((sql) => sql.query("select 3 as three"))).toEqual([{ three: 3 }]);
    });
  },
);

describeIfAvailable("PostgreSQL or PgBouncer", areInstalled)("a PgBouncer without transactions", () => {
  test("is rejected with the reason", async () => {
    await using server = await startPostgres();
    await using pooler = await startPgbouncer(server, "pool_mode = statement");
    await using database = await openDatabase(pooler.url);
    const reason = "transaction blocks not allowed in statement pooling mode";
    await expect(database.query("select 1")).rejects.toThrow(reason);
    await expect(database.transaction((sql) => sql.query("select 1"))).rejects.toThrow(reason);
  });
});
