import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openTcpProxy } from "../../../simulation/tcp-proxy.ts";
import { makeCertificate } from "../../../testing/certificate.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { newFolder } from "../../../testing/run.ts";
import { isPostgresInstalled, startPostgres, startReplicaOf } from "../../../testing/servers/postgres.ts";
import type { TestServer } from "../../../testing/servers/server.ts";
import { openSilentServer } from "../../../testing/silent-server.ts";
import { type Database, DatabaseUnavailable, StatementTimeout } from "../database.ts";
import { openDatabase } from "../databases.ts";
import { useAuthentication, useCertificate, useNoCertificate } from "../server-access.fixture.ts";

describeIfAvailable("PostgreSQL", isPostgresInstalled())("the adapter of PostgreSQL", () => {
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

  const waitUntilAvailable = () => eventually(() => database.query("select 1"));
  const isUnavailable = (work: Promise<unknown>) => expect(work).rejects.toThrow(DatabaseUnavailable);
  const roleUrl = (name: string, password = "") => {
    const url = new URL(server.url);
    [url.username, url.password] = [encodeURIComponent(name), encodeURIComponent(password)];
    return url.href;
  };

  test("rejects while the server is down, and works again when it is back", async () => {
    const reading = database.within(20_000);
    expect(await reading.query("select 1 as one")).toEqual([{ one: 1 }]);
    const pipelined = Array.from({ length: 20 }, () => isUnavailable(reading.query("select pg_sleep(30)")));
    await eventually(() => expect(database.connections().requests?.busy).toBeGreaterThanOrEqual(2));
    const interrupted = database.transaction(async (sql) => {
      await sql.query("insert into thing values (1)");
      await server.kill();
      await sql.query("insert into thing values (2)");
    });
    await Promise.all([isUnavailable(database.query("select pg_sleep(30)")), isUnavailable(interrupted)]);
    await Promise.all(pipelined);
    for (const work of [
      () => database.query("select 1"),
      () => reading.query("select 1"),
      () => database.transaction(async () => undefined),
      () => database.check(),
    ]) {
      // Broken connections are noticed one by one. Then none waits for the limit.
      await eventually(() => expect(work()).rejects.toThrow("ECONNREFUSED"));
      await isUnavailable(work());
    }
    await server.start();
    await waitUntilAvailable();
    expect(await reading.query("select 2 as two")).toEqual([{ two: 2 }]);
    expect(await database.query("select from thing")).toEqual([]);
  });

  test("has each connection back, however the work on it ends", async () => {
    await using own = await openDatabase(server.url);
    const [reading, late] = [own.within(20_000), own.within(50)];
    const failing = "select 1 / 0";
    for (const work of [
      () => own.query(failing),
      () => own.run(failing),
      () => own.transaction((sql) => sql.query(failing)),
      () => own.transaction(() => Promise.reject(new Error("failed"))),
      () => reading.query(failing),
      () => reading.query(failing, [], "custom"),
      () => late.query("select pg_sleep(60)"),
      () => late.query("select pg_sleep(60)", [], "custom"),
    ])
      for (let times = 0; times < 2; times += 1) await expect(work()).rejects.toThrow();
    const unused = expect.objectContaining({ busy: 0, waiting: 0 });
    await eventually(() => expect(own.connections()).toEqual({ receiver: unused, requests: unused }));
  });

  test("limits every session, and a transaction by its own limits", async () => {
    const defaults = {
      ...{ statement_timeout: "10s", lock_timeout: "8s" },
      ...{ idle_in_transaction_session_timeout: "5s", tcp_user_timeout: "10000" },
    };
    const columns = Object.keys(defaults).map((name) => `current_setting('${name}') as ${name}`);
    const limits = `select ${columns.join()}`;
    expect(await database.query(limits)).toEqual([defaults]);
    expect(await database.transaction((sql) => sql.query(limits))).toEqual([defaults]);
    const own = { statementMs: 3_600_000, lockMs: 2000 };
    expect(await database.transaction((sql) => sql.query(limits), own)).toEqual([
      { ...defaults, statement_timeout: "1h", lock_timeout: "2s" },
    ]);
    expect(await database.query(limits)).toEqual([defaults]);
    const [ofRequests] = await database.within(7000).query(limits);
    expect(ofRequests).toMatchObject({ ...defaults, statement_timeout: "7s", lock_timeout: "7s" });
  });

  test("rolls back a transaction that reached a limit, and rejects with a transient error", async () => {
    await database.transaction(async (locking) => {
      await locking.run("lock table thing");
      const wait = (limits: object) => database.transaction((sql) => sql.query("select from thing"), limits);
      await expect(wait({ lockMs: 100 })).rejects.toThrow("canceling statement due to lock timeout");
      await expect(wait({ statementMs: 100 })).rejects.toThrow(DatabaseUnavailable);
    });
    const idle = database.transaction(
      async (sql) => {
        await sql.query("insert into thing values (1)");
        await sleep(1000);
        return await sql.query("select 1");
      },
      { idleMs: 100 },
    );
    await expect(idle).rejects.toThrow(DatabaseUnavailable);
    expect(await database.transaction((sql) => sql.query("select from thing"))).toEqual([]);
  });

  test("rejects a transaction with the error of its first statement that failed, whichever is noticed first", async () => {
    await using operator = await openDatabase(server.url);
    const work = database.transaction(async (sql) => {
      const first = async () => {
        const rows = await sql.query("select pg_sleep(600) as first");
        return rows.length;
      };
      // The server rejects these, since the first one has failed.
      await Promise.all([first(), sql.query("select 1 as one"), sql.query("select 2 as two")]);
    });
    const rejected = expect(work).rejects.toThrow("canceling statement due to user request");
    await eventually(async () => {
      const canceled = await operator.query(
        "select pg_cancel_backend(pid) from pg_stat_activity where query ~ '^select pg_sleep.600. as first'",
      );
      expect(canceled).toHaveLength(1);
    });
    await rejected;
    await isUnavailable(work);
  });

  test("ends the session of a client that does not read a large result", async () => {
    await using proxy = await openTcpProxy(server.url);
    await using reading = await openDatabase(proxy.url);
    const largeResult =
      "select repeat('x', 1000) from pg_advisory_xact_lock_shared(5), generate_series(1, 100000)";
    const waiting = "select from pg_locks where locktype = 'advisory' and not granted";
    const { running } = await database.transaction(async (sql) => {
      await sql.query("select pg_advisory_xact_lock(5)");
      const running = isUnavailable(reading.within(3_600_000).query(largeResult, [], "custom"));
      await eventually(async () => expect(await database.query(waiting)).toHaveLength(1));
      proxy.dropPackets();
      return { running };
    });
    const sessions = "select from pg_stat_activity where query = $1";
    await eventually(async () => expect(await database.query(sessions, [largeResult])).toEqual([]));
    proxy.resetConnections();
    await running;
  });

  test("opens new connections after an idle one did not respond", async () => {
    await using proxy = await openTcpProxy(server.url);
    await using proxied = await openDatabase(proxy.url);
    const requests = proxied.within(60_000);
    const useAllPools = () => [
      proxied.query("select 1"),
      requests.query("select 1"),
      ...Array.from({ length: 5 }, () => requests.query("select 1", [], "custom")),
      ...Array.from({ length: 5 }, () => proxied.transaction((sql) => sql.query("select 1"))),
    ];
    await Promise.all(useAllPools());
    proxy.dropPackets();
    proxy.restore();
    await isUnavailable(proxied.check());
    // A statement on an old connection would reject at its limit.
    await Promise.all(useAllPools());
  });

  test("opens up to `pool` connections for custom statements of requests, and two for prepared ones", async () => {
    await using few = await openDatabase(`${server.url}?pool=2`);
    const requests = few.within(60_000);
    const usage = () => few.connections().requests;
    const { waiting } = await database.transaction(async (sql) => {
      await sql.query("select pg_advisory_xact_lock(9)");
      const waiting = Array.from({ length: 5 }, () =>
        requests.query("select pg_advisory_xact_lock_shared(9)", [], "custom"),
      );
      await eventually(() => expect(usage()).toEqual({ busy: 2, idle: 0, waiting: 3 }));
      expect(await few.query("select 1 as one")).toEqual([{ one: 1 }]);
      const quick = Array.from({ length: 100 }, (_, index) => requests.query("select $1::int as n", [index]));
      expect(usage()).toEqual({ busy: 4, idle: 0, waiting: 3 });
      expect(await Promise.all(quick)).toEqual(Array.from({ length: 100 }, (_, n) => [{ n }]));
      return { waiting };
    });
    await Promise.all(waiting);
    expect(usage()).toEqual({ busy: 0, idle: 4, waiting: 0 });
  });

  test("resolves or rejects each of many pipelined statements by itself, and times out each at its limit", async () => {
    const divide = database.within(60_000);
    const divisions = Array.from({ length: 20 }, (_, index) =>
      divide.query("select 12 / $1::int as n", [index % 4]),
    );
    const outcomes = await Promise.allSettled(divisions);
    expect(outcomes.map((one) => (one.status === "fulfilled" ? one.value : one.reason.code))).toEqual(
      outcomes.map((_, index) => (index % 4 === 0 ? "22012" : [{ n: 12 / (index % 4) }])),
    );
    const requests = database.within(300);
    // Two of four are behind others. On a busy machine, more are late.
    await eventually(async () => {
      const slow = await Promise.allSettled(
        Array.from({ length: 4 }, () => requests.query("select pg_sleep(0.2)")),
      );
      expect(slow.flatMap((one) => (one.status === "rejected" ? one.reason : []))).toEqual([
        expect.any(StatementTimeout),
        expect.any(StatementTimeout),
      ]);
    });
    await eventually(async () => expect(await requests.query("select 3 as three")).toEqual([{ three: 3 }]));
  });

  test("retries a statement if the one before it, which was to prepare it, timed out", async () => {
    await database.run("create table locked (id bigint)");
    const requests = database.within(400);
    const read = () => requests.query("select * from locked");
    // On a busy machine, the later statements can time out, too.
    await eventually(async () => {
      const { others } = await database.transaction(async (sql) => {
        await sql.run("lock table locked");
        const first = Promise.allSettled([read(), read()]);
        await sleep(200);
        const others = Promise.all([read(), read()]);
        others.catch(() => {});
        for (const one of await first) expect(one).toMatchObject({ reason: expect.any(StatementTimeout) });
        // The server ends a statement slightly later than the adapter rejects.
        await sleep(100);
        return { others };
      });
      expect(await others).toEqual([[], []]);
    });
  });

  test("keeps prepared statements on the server, but not custom ones", async () => {
    await using one = await openDatabase(`${server.url}?pool=1`);
    await one.query("select 'prepared'");
    await one.query("select 'custom'", [], "custom");
    const prepared = await one.query<{ statement: string }>("select statement from pg_prepared_statements");
    expect(prepared.map(({ statement }) => statement).sort()).toEqual([
      "select 'prepared'",
      "select statement from pg_prepared_statements",
    ]);
  });

  test("rejects with a transient error when the server has no free connection", async () => {
    await database.run("create role few login connection limit 1");
    await using few = await openDatabase(roleUrl("few"));
    await few.transaction(() => expect(few.query("select 1")).rejects.toThrow(DatabaseUnavailable));
  });

  test("accepts any user name and password, reports the reason of a rejection, and returns timestamps in UTC in any time zone of the role", async () => {
    const [data] = await database.query<{ file: string }>("select current_setting('hba_file') as file");
    await database.run(`create role "o@d:d/ %" login password 'p@s:s/ %'`);
    for (const setting of ["timezone = 'Asia/Kolkata'", "datestyle = 'German'"])
      await database.run(`alter role "o@d:d/ %" set ${setting}`);
    await database.run(
      `copy (select 'host all "o@d:d/ %" 127.0.0.1/32 scram-sha-256')
       to program 'cat - ${data?.file} > ${data?.file}.new; mv ${data?.file}.new ${data?.file}'`,
    );
    await database.query("select pg_reload_conf()");
    await using odd = await openDatabase(roleUrl("o@d:d/ %", "p@s:s/ %"));
    const read = "select current_user::text as name, '2024-03-05T09:14:22+05:30'::timestamptz as at";
    const row = { name: "o@d:d/ %", at: "2024-03-05T03:44:22.000000Z" };
    await eventually(async () => expect(await odd.query(read)).toEqual([row]));
    await using wrong = await openDatabase(roleUrl("o@d:d/ %", "wrong"));
    await expect(wrong.check()).rejects.toThrow("password authentication failed");
    await using unknown = await openDatabase(roleUrl("nobody"));
    const reason = 'the database is unavailable: role "nobody" does not exist';
    await expect(unknown.check()).rejects.toThrow(reason);
  });

  test("replaces outdated plans after the columns of a table have changed", async () => {
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

  test("closes every connection on disposal", async () => {
    const name = "disposal";
    await database.run(`create database ${name}`);
    const url = new URL(server.url);
    url.pathname = name;
    {
      await using other = await openDatabase(url.href);
      await Promise.all([other.query("select 1"), other.within(1000).query("select 1")]);
      expect(other.connections()).toMatchObject({ receiver: { idle: 1 }, requests: { idle: 1 } });
    }
    await eventually(() => database.run(`drop database ${name}`));
  });

  test("encrypts connections and verifies the certificate as sslmode and sslrootcert state", async () => {
    using own = makeCertificate("127.0.0.1");
    using untrusted = makeCertificate("127.0.0.1");
    using ofOtherHost = makeCertificate("127.0.0.2");
    const statement = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    const isEncrypted = async (sslmode: string, rootFile?: string) => {
      const parameters = new URLSearchParams({ sslmode, ...(rootFile && { sslrootcert: rootFile }) });
      await using database = await openDatabase(`${server.url}?${parameters}`);
      return (await database.query<{ ssl: boolean }>(statement))[0]?.ssl;
    };
    const rejects = (message: string, ...parameters: Parameters<typeof isEncrypted>) =>
      expect(isEncrypted(...parameters)).rejects.toThrow(message);
    await useNoCertificate(database);
    await rejects("does not support SSL", "require");
    await useCertificate(database, own);
    await eventually(async () => expect(await isEncrypted("require")).toBe(true));
    expect(await isEncrypted("disable")).toBe(false);
    expect(await isEncrypted("verify-full", own.certificate)).toBe(true);
    await rejects("self-signed certificate", "verify-full");
    await rejects("the database is unavailable", "verify-full", untrusted.certificate);
    // As in libpq, require with an authority is verify-ca.
    for (const mode of ["verify-ca", "require"]) {
      expect(await isEncrypted(mode, own.certificate)).toBe(true);
      await rejects("the database is unavailable", mode, untrusted.certificate);
    }
    await rejects("sslmode=verify-ca requires sslrootcert", "verify-ca");
    await rejects("sslrootcert requires another sslmode than disable", "disable", own.certificate);
    for (const mode of ["require", "verify-ca"])
      await rejects("sslrootcert=system requires sslmode=verify-full", mode, "system");
    await rejects("self-signed certificate", "verify-full", "system");
    await useCertificate(database, ofOtherHost);
    await eventually(() => rejects("does not match certificate", "verify-full", ofOtherHost.certificate));
    expect(await isEncrypted("verify-ca", ofOtherHost.certificate)).toBe(true);
  });

  test("binds the proof of the password to the TLS connection, as channel_binding states", async () => {
    using certificate = makeCertificate("127.0.0.1");
    await useCertificate(database, certificate);
    await database.run("create user bound password 'p'");
    const { host } = new URL(server.url);
    const open = async (user: string, parameters: string) => {
      await using opened = await openDatabase(`postgres://${user}@${host}/postgres?${parameters}`);
      await opened.query("select 1");
    };
    const asked = (binding: string) => `sslmode=require&channel_binding=${binding}`;
    const lacking = "does not use SCRAM-SHA-256-PLUS";
    await expect(open("bound:p", "channel_binding=require")).rejects.toThrow("another sslmode than disable");
    // The server asks for nothing, for the password, or for a proof of it.
    for (const [method, rejected] of [
      ["trust", lacking],
      ["password", lacking],
      ["scram-sha-256", undefined],
    ] as const) {
      await useAuthentication(database, method);
      await eventually(async () => {
        const [rule] = await database.query(
          "select auth_method from pg_hba_file_rules where 'bound' = any(user_name)",
        );
        expect(rule).toEqual({ auth_method: method });
      });
      await open("bound:p", asked("prefer"));
      const opening = open("bound:p", asked("require"));
      if (rejected) await expect(opening).rejects.toThrow(rejected);
      else await opening;
    }
    await expect(open("bound:other", asked("require"))).rejects.toThrow(/password authentication failed/);
    await expect(open("bound:p", "channel_binding=disable")).resolves.toBeUndefined();
  });

  test("has the given name, and is reached through a socket of this machine", async () => {
    const [{ folder } = { folder: "" }] = await database.query<{ folder: string }>(
      "select setting as folder from pg_settings where name = 'unix_socket_directories'",
    );
    const { port } = new URL(server.url);
    // The default port belongs to the name of the socket.
    const links = newFolder();
    symlinkSync(join(folder, `.s.PGSQL.${port}`), join(links, ".s.PGSQL.5432"));
    const statement = `select application_name as name, inet_server_addr() is null as is_local
      from pg_stat_activity where pid = pg_backend_pid()`;
    for (const [url, name, is_local] of [
      [server.url, "payment-ledger", false],
      [`${server.url}?application_name=Ledger+of+shops`, "Ledger of shops", false],
      [`postgres://postgres@localhost:${port}/postgres?host=${folder}`, "payment-ledger", true],
      [
        `postgres://postgres:p@/postgres?sslmode=require&host=${encodeURIComponent(links)}`,
        "payment-ledger",
        true,
      ],
    ] as const) {
      await using opened = await openDatabase(url);
      expect(await opened.query(statement)).toEqual([{ name, is_local }]);
    }
  });

  test.each([
    ["postgres://a@/b", "has no host"],
    ["postgres://a@/b?host=other", "has a parameter host that is not the path of the folder"],
    ["postgres://a@h/b?sslmode=prefer", "allow and prefer would go on without encryption"],
    ["postgres://a@h/b?channel_binding=yes", "is not one of disable, prefer, require"],
    ["postgres://a@h/b?options=-c%20geqo=off", "has a parameter options that postgres: does not have"],
    ["postgres://a@h,i/b?host=/tmp", "the parameter host is for a URL with one host"],
  ])("%s is rejected", async (url, problem) => {
    await expect(openDatabase(url)).rejects.toThrow(problem);
  });

  test("can read from a replica and cannot write to it", async () => {
    await using replica = await startReplicaOf(server);
    await using reading = await openDatabase(replica.url);
    await database.run("insert into thing values (7)");
    await eventually(async () => expect(await reading.query("select id from thing")).toEqual([{ id: 7n }]));
    await expect(reading.query("insert into thing values (8)")).rejects.toThrow(DatabaseUnavailable);
  });
});

test("a server that does not respond is waited for up to connect_timeout", async () => {
  await using silent = await openSilentServer();
  const open = (seconds: number) =>
    openDatabase(`postgres://a@127.0.0.1:${silent.port}/a?connect_timeout=${seconds}`);
  let isPatientRejected = false;
  const patient = await open(3600);
  patient.query("select 1").catch(() => {
    isPatientRejected = true;
  });
  await using database = await open(1);
  await expect(database.query("select 1")).rejects.toThrow(DatabaseUnavailable);
  expect(isPatientRejected).toBe(false);
  // A statement with a limit rejects with StatementTimeout, whichever timer ends first.
  for (const plan of ["prepared", "custom"] as const) {
    const limited = database.within(100).query("select 1", [], plan);
    await expect(limited).rejects.toThrow(new StatementTimeout(100));
  }
});
