import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openLine } from "../../../simulation/line.ts";
import { makeCertificate } from "../../../testing/certificate.ts";
import { describeNeeding } from "../../../testing/describe-needing.ts";
import { eventually } from "../../../testing/eventually.ts";
import { isPostgresInstalled, startPostgres, startReplicaOf } from "../../../testing/servers/postgres.ts";
import type { TestServer } from "../../../testing/servers/server.ts";
import { type Database, DatabaseUnavailable, openDatabase, StatementTimeout } from "./database.ts";

describeNeeding("PostgreSQL", isPostgresInstalled())("a PostgreSQL that has its troubles", () => {
  let server: TestServer;
  let database: Database;
  const opened = new AsyncDisposableStack();
  beforeAll(async () => {
    server = opened.use(await startPostgres());
    database = opened.use(await openDatabase(server.url));
    await database.run("create table thing (id bigint)");
  });
  beforeEach(() => database.run("truncate thing"));
  afterAll(() => opened.disposeAsync());

  const answers = () => eventually(() => database.query("select 1"));
  /** How long it takes to reject, in milliseconds; what it rejects with. */
  async function rejection(work: Promise<unknown>) {
    const begun = performance.now();
    const reason = await work.then(
      () => undefined,
      (error: unknown) => error,
    );
    return { reason, ms: performance.now() - begun };
  }

  test("is told to be unavailable at once while it is away, and used again when it is back", async () => {
    const reading = database.within(20_000);
    expect(await reading.query("select 1 as one")).toEqual([{ one: 1 }]);
    const asleep = rejection(database.query("select pg_sleep(30)"));
    await server.kill();
    expect((await asleep).reason).toBeInstanceOf(DatabaseUnavailable);
    for (const work of [
      () => database.query("select 1"),
      () => reading.query("select 1"),
      () => database.transaction(async () => undefined),
      () => database.check(),
    ]) {
      const { reason, ms } = await rejection(work());
      expect(reason).toBeInstanceOf(DatabaseUnavailable);
      // Nobody waited for the time there is to connect, let alone for that of a statement.
      expect(ms).toBeLessThan(4000);
    }
    await server.start();
    await answers();
    expect(await reading.query("select 2 as two")).toEqual([{ two: 2 }]);
  });

  test("commits nothing of a transaction in whose middle it is killed", async () => {
    const { reason } = await rejection(
      database.transaction(async (sql) => {
        await sql.query("insert into thing values (1)");
        await server.kill();
        await sql.query("insert into thing values (2)");
      }),
    );
    expect(reason).toBeInstanceOf(DatabaseUnavailable);
    await server.start();
    await answers();
    expect(await database.query("select from thing")).toEqual([]);
  });

  test("is waited for no longer than the limit while it hangs", async () => {
    const reading = database.within(300);
    await reading.query("select 1");
    server.pause();
    const { reason, ms } = await rejection(reading.query("select 1"));
    expect(reason instanceof DatabaseUnavailable || reason instanceof StatementTimeout).toBe(true);
    expect(ms).toBeLessThan(20 * 300);
    server.resume();
    await answers();
    await eventually(() => reading.query("select 1"));
  });

  test("limits every session, and a transaction as it asks", async () => {
    const settings = [
      "statement_timeout",
      "lock_timeout",
      "idle_in_transaction_session_timeout",
      "tcp_user_timeout",
    ];
    const limits = `select ${settings.map((name) => `current_setting('${name}') as ${name}`).join()}`;
    const usual = Object.fromEntries(
      settings.map((name, index) => [name, ["10s", "8s", "5s", "10000"][index]]),
    );
    expect(await database.query(limits)).toEqual([usual]);
    expect(await database.transaction((sql) => sql.query(limits))).toEqual([usual]);
    const own = { statementMs: 3_600_000, lockMs: 2000 };
    expect(await database.transaction((sql) => sql.query(limits), own)).toEqual([
      { ...usual, statement_timeout: "1h", lock_timeout: "2s" },
    ]);
    expect(await database.query(limits)).toEqual([usual]);
    const [ofRequests] = await database.within(7000).query(limits);
    expect(ofRequests).toMatchObject({ ...usual, statement_timeout: "7s", lock_timeout: "7s" });
  });

  test("rolls back a transaction that reached a limit, which can be tried again", async () => {
    await database.transaction(async (locking) => {
      await locking.run("lock table thing");
      const wait = (limits: object) => database.transaction((sql) => sql.query("select from thing"), limits);
      await expect(wait({ lockMs: 100 })).rejects.toThrow("canceling statement due to lock timeout");
      await expect(wait({ statementMs: 100 })).rejects.toThrow(DatabaseUnavailable);
    });
    const dawdling = database.transaction(
      async (sql) => {
        await sql.query("insert into thing values (1)");
        await sleep(1000);
        return await sql.query("select 1");
      },
      { idleMs: 100 },
    );
    await expect(dawdling).rejects.toThrow(DatabaseUnavailable);
    expect(await database.transaction((sql) => sql.query("select from thing"))).toEqual([]);
  });

  test("ends the session of whoever takes nothing of a long answer", async () => {
    await using line = await openLine(server.url);
    await using reading = await openDatabase(line.url);
    const answer =
      "select repeat('x', 1000) from pg_advisory_xact_lock_shared(5), generate_series(1, 100000)";
    const waiting = "select from pg_locks where locktype = 'advisory' and not granted";
    const asked = await database.transaction(async (sql) => {
      await sql.query("select pg_advisory_xact_lock(5)");
      const asked = rejection(reading.within(120_000).query(answer, [], "custom"));
      await eventually(async () => expect(await database.query(waiting)).toHaveLength(1));
      line.silence();
      return { asked };
    });
    const begun = performance.now();
    const sessions = "select from pg_stat_activity where query = $1";
    await eventually(async () => expect(await database.query(sessions, [answer])).toEqual([]));
    expect(performance.now() - begun).toBeLessThan(20_000);
    line.cut();
    expect((await asked.asked).reason).toBeInstanceOf(DatabaseUnavailable);
  });

  test("is asked through new connections after one from before had no answer", async () => {
    await using line = await openLine(server.url);
    await using away = await openDatabase(line.url);
    const requests = away.within(60_000);
    const ask = () => [
      away.query("select 1"),
      requests.query("select 1"),
      ...Array.from({ length: 5 }, () => requests.query("select 1", [], "custom")),
      ...Array.from({ length: 5 }, () => away.transaction((sql) => sql.query("select 1"))),
    ];
    await Promise.all(ask());
    line.silence();
    line.restore();
    expect((await rejection(away.check())).reason).toBeInstanceOf(DatabaseUnavailable);
    const begun = performance.now();
    await Promise.all(ask());
    // Nobody waited for the time there is for a statement.
    expect(performance.now() - begun).toBeLessThan(9000);
  });

  test("can end connections as it likes", async () => {
    await database.query("select 1");
    const others =
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
    await using other = await openDatabase(server.url);
    await other.query(others);
    await answers();
    expect(await database.query("select 1 as one")).toEqual([{ one: 1 }]);
  });

  test("is asked by requests through no more connections than it is told, and two for what is quick", async () => {
    await using few = await openDatabase(`${server.url}?pool=2`);
    const requests = few.within(2000);
    const asleep = Array.from({ length: 5 }, () => requests.query("select pg_sleep(0.2)", [], "custom"));
    await eventually(() => expect(few.connections().limited).toEqual({ busy: 2, idle: 0, waiting: 3 }));
    expect(await few.query("select 1 as one")).toEqual([{ one: 1 }]);
    const quick = Array.from({ length: 100 }, (_, index) => requests.query("select $1::int as n", [index]));
    expect(few.connections().limited).toEqual({ busy: 4, idle: 0, waiting: 3 });
    expect(await Promise.all(quick)).toEqual(Array.from({ length: 100 }, (_, n) => [{ n }]));
    await Promise.all(asleep);
    expect(few.connections().limited).toEqual({ busy: 0, idle: 4, waiting: 0 });
  });

  test("answers or refuses each of many quick statements by itself, and none after its time", async () => {
    const requests = database.within(300);
    const halves = Array.from({ length: 20 }, (_, index) =>
      requests.query("select 12 / $1::int as n", [index % 4]),
    );
    const outcomes = await Promise.allSettled(halves);
    expect(outcomes.map((one) => (one.status === "fulfilled" ? one.value : one.reason.code))).toEqual(
      outcomes.map((_, index) => (index % 4 === 0 ? "22012" : [{ n: 12 / (index % 4) }])),
    );
    const slow = Array.from({ length: 4 }, () => rejection(requests.query("select pg_sleep(0.2)")));
    const late = (await Promise.all(slow)).filter(({ reason }) => reason !== undefined);
    expect(late.map(({ reason }) => reason)).toEqual([
      expect.any(StatementTimeout),
      expect.any(StatementTimeout),
    ]);
    await eventually(async () => expect(await requests.query("select 3 as three")).toEqual([{ three: 3 }]));
  });

  test("leaves none of many statements without an answer when it is killed", async () => {
    const requests = database.within(20_000);
    const asked = Array.from({ length: 20 }, () => rejection(requests.query("select pg_sleep(0.3)")));
    await eventually(() => expect(database.connections().limited?.busy).toBeGreaterThanOrEqual(2));
    await server.kill();
    for (const { reason, ms } of await Promise.all(asked)) {
      expect(reason).toBeInstanceOf(DatabaseUnavailable);
      expect(ms).toBeLessThan(10_000);
    }
    await server.start();
    await answers();
    expect(await requests.query("select 1 as one")).toEqual([{ one: 1 }]);
  });

  test("is asked again by those whose statement was to be prepared by one ahead of it that failed", async () => {
    await database.run("create table locked (id bigint)");
    const requests = database.within(400);
    const read = () => requests.query("select * from locked");
    const behind = await database.transaction(async (sql) => {
      await sql.run("lock table locked");
      const ahead = [read(), read()].map(rejection);
      await sleep(200);
      const others = [read(), read()];
      for (const { reason } of await Promise.all(ahead)) expect(reason).toBeInstanceOf(StatementTimeout);
      // The server ends a statement a little later than its caller is told.
      await sleep(100);
      return { others };
    });
    expect(await Promise.all(behind.others)).toEqual([[], []]);
  });

  test("keeps a statement prepared whose text is always the same, and none that is composed", async () => {
    await using one = await openDatabase(`${server.url}?pool=1`);
    await one.query("select 'kept'");
    await one.query("select 'once'", [], "custom");
    const kept = await one.query<{ statement: string }>("select statement from pg_prepared_statements");
    expect(kept.map(({ statement }) => statement).sort()).toEqual([
      "select 'kept'",
      "select statement from pg_prepared_statements",
    ]);
  });

  test("rolls one of two back that wait for each other, which can be tried again", async () => {
    const ready = Promise.withResolvers<void>();
    const both = [
      ["1", "2"],
      ["2", "1"],
    ].map(([first, second], index) =>
      database.transaction(async (sql) => {
        await sql.query("select pg_advisory_xact_lock($1::bigint)", [first]);
        if (index === 0) await ready.promise;
        else ready.resolve();
        await sql.query("select pg_advisory_xact_lock($1::bigint)", [second]);
      }),
    );
    const outcomes = await Promise.allSettled(both);
    expect(outcomes.flatMap((one) => (one.status === "rejected" ? one.reason : []))).toEqual([
      expect.any(DatabaseUnavailable),
    ]);
  });

  test("that has no connection left is unavailable", async () => {
    await database.run("create role few login connection limit 1");
    const url = new URL(server.url);
    url.username = "few";
    await using few = await openDatabase(url.href);
    await few.transaction(() => expect(few.query("select 1")).rejects.toThrow(DatabaseUnavailable));
  });

  test("takes any name and password, and tells times in UTC whatever zone is its own", async () => {
    const [data] = await database.query<{ file: string }>("select current_setting('hba_file') as file");
    await database.run(
      `create role "o@d:d/ %" login password 'p@s:s/ %'; alter role "o@d:d/ %" set timezone = 'Asia/Kolkata'; alter role "o@d:d/ %" set datestyle = 'German'`,
    );
    await database.run(
      `copy (select 'host all "o@d:d/ %" 127.0.0.1/32 scram-sha-256')
       to program 'cat - ${data?.file} > ${data?.file}.new; mv ${data?.file}.new ${data?.file}'`,
    );
    await database.query("select pg_reload_conf()");
    const url = new URL(server.url);
    url.username = encodeURIComponent("o@d:d/ %");
    url.password = encodeURIComponent("p@s:s/ %");
    await using odd = await openDatabase(url.href);
    await eventually(async () =>
      expect(
        await odd.query("select current_user::text as name, '2024-03-05T09:14:22+05:30'::timestamptz as at"),
      ).toEqual([{ name: "o@d:d/ %", at: "2024-03-05T03:44:22.000000Z" }]),
    );
    url.password = "wrong";
    await using wrong = await openDatabase(url.href);
    await expect(wrong.check()).rejects.toThrow("password authentication failed");
  });

  test("has plans that are kept for tables as they are now", async () => {
    await database.run("create table wide (id bigint); insert into wide values (1)");
    const requests = database.within(2000);
    const read = "select * from wide";
    await requests.query(read);
    await database.transaction((sql) => sql.query(read));
    await database.run("alter table wide add column more text");
    expect(await requests.query(read)).toEqual([{ id: 1n, more: null }]);
    await expect(database.transaction((sql) => sql.query(read))).rejects.toThrow(DatabaseUnavailable);
    expect(await database.transaction((sql) => sql.query(read))).toEqual([{ id: 1n, more: null }]);
  });

  test("has no connection any more of whoever closed", async () => {
    const name = "closes";
    await database.run(`create database ${name}`);
    const url = new URL(server.url);
    url.pathname = name;
    {
      await using closing = await openDatabase(url.href);
      await Promise.all([closing.query("select 1"), closing.within(1000).query("select 1")]);
      expect(closing.connections()).toMatchObject({ unlimited: { idle: 1 }, limited: { idle: 1 } });
    }
    await eventually(() => database.run(`drop database ${name}`));
  });

  test("lets nobody in who has the wrong name", async () => {
    const url = new URL(server.url);
    url.username = "nobody";
    await using database = await openDatabase(url.href);
    await expect(database.check()).rejects.toThrow(
      'the database is unavailable: role "nobody" does not exist',
    );
  });

  test("is known by its certificate, or trusted, or not encrypted, as the URL says", async () => {
    using own = makeCertificate("127.0.0.1");
    using others = makeCertificate("127.0.0.1");
    using elsewhere = makeCertificate("127.0.0.2");
    const isEncrypted = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    const asked = async (parameters: string) => {
      await using database = await openDatabase(`${server.url}?${parameters}`);
      return (await database.query<{ ssl: boolean }>(isEncrypted))[0]?.ssl;
    };
    await expect(asked("sslmode=require")).rejects.toThrow("does not support SSL");

    const [data] = await database.query<{ folder: string }>(
      "select current_setting('data_directory') as folder",
    );
    const write = (name: string, file: string) =>
      database.run(
        `copy (select unnest(string_to_array('${readFileSync(file, "utf8").trim()}', E'\\n')))
         to program 'umask 077; cat > ${data?.folder}/${name}'`,
      );
    await write("server.crt", own.certificate);
    await write("server.key", own.key);
    await database.run("alter system set ssl = on");
    await database.query("select pg_reload_conf()");

    await eventually(async () => expect(await asked("sslmode=require")).toBe(true));
    expect(await asked("sslmode=disable")).toBe(false);
    expect(await asked(`sslmode=verify-full&sslrootcert=${encodeURIComponent(own.certificate)}`)).toBe(true);
    await expect(asked("sslmode=verify-full")).rejects.toThrow("self-signed certificate");
    await expect(
      asked(`sslmode=verify-full&sslrootcert=${encodeURIComponent(others.certificate)}`),
    ).rejects.toThrow(DatabaseUnavailable);
    await expect(
      asked(`sslmode=require&sslrootcert=${encodeURIComponent(others.certificate)}`),
    ).rejects.toThrow("needs sslmode=verify-full");
    await write("server.crt", elsewhere.certificate);
    await write("server.key", elsewhere.key);
    await database.query("select pg_reload_conf()");
    const trusted = `sslmode=verify-full&sslrootcert=${encodeURIComponent(elsewhere.certificate)}`;
    await eventually(() => expect(asked(trusted)).rejects.toThrow("does not match certificate"));
  });

  test("has replicas, which are read and cannot be written", async () => {
    await using replica = await startReplicaOf(server);
    await using reading = await openDatabase(replica.url);
    await database.run("insert into thing values (7)");
    await eventually(async () => expect(await reading.query("select id from thing")).toEqual([{ id: 7n }]));
    await expect(reading.query("insert into thing values (8)")).rejects.toThrow(DatabaseUnavailable);
  });
});

test("a server that says nothing is waited for as long as the URL says", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  await using database = await openDatabase(`postgres://a@127.0.0.1:${port}/a?connect_timeout=1`);
  const begun = performance.now();
  await expect(database.query("select 1")).rejects.toThrow(DatabaseUnavailable);
  expect(performance.now() - begun).toBeGreaterThan(900);
  // The default is five times as long.
  expect(performance.now() - begun).toBeLessThan(4500);
  // Whoever has a limit hears of that, whichever timer is the first.
  for (const plan of ["prepared", "custom"] as const) {
    const asked = database.within(100).query("select 1", [], plan);
    await expect(asked).rejects.toThrow(new StatementTimeout(100));
  }
  silent.close();
});
