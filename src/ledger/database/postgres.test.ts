import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { makeCertificate } from "../../service/certificate.fixture.ts";
import { describeNeeding } from "../../service/needing.fixture.ts";
import type { TestServer } from "../../service/test-server.fixture.ts";
import { type Database, DatabaseUnavailable, openDatabase, StatementTimeout } from "./database.ts";
import { isPostgresInstalled, startPostgres, startReplicaOf } from "./postgres-server.fixture.ts";

describeNeeding("PostgreSQL", isPostgresInstalled())("a PostgreSQL that has its troubles", () => {
  let server: TestServer;
  let database: Database;
  const opened = new AsyncDisposableStack();
  beforeAll(async () => {
    server = opened.use(await startPostgres());
    database = opened.use(await openDatabase(server.url));
    await database.run("create table thing (id bigint)");
  });
  afterAll(() => opened.disposeAsync());

  const answers = () => vi.waitFor(() => database.query("select 1"), { timeout: 10_000 });
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
    const reading = database.within(2000);
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
      expect(ms).toBeLessThan(500);
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
    expect(ms).toBeLessThan(2000);
    server.resume();
    await answers();
    await vi.waitFor(() => reading.query("select 1"), { timeout: 10_000 });
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

  test("is asked through no more connections than it is told", async () => {
    await using few = await openDatabase(`${server.url}?pool=2`);
    const asleep = Array.from({ length: 5 }, () => few.query("select pg_sleep(0.2)"));
    await vi.waitFor(() => expect(few.connections().unlimited).toEqual({ busy: 2, idle: 0, waiting: 3 }));
    await Promise.all(asleep);
    expect(few.connections().unlimited).toEqual({ busy: 0, idle: 2, waiting: 0 });
  });

  test("keeps a statement prepared whose text is always the same, and none that is composed", async () => {
    await using one = await openDatabase(`${server.url}?pool=1`);
    await one.query("select 'kept'");
    await one.query("select 'once'", [], "once");
    const kept = await one.query<{ statement: string }>("select statement from pg_prepared_statements");
    expect(kept.map(({ statement }) => statement).sort()).toEqual([
      "select 'kept'",
      "select statement from pg_prepared_statements",
    ]);
  });

  test("lets nobody in who has the wrong name", async () => {
    const url = new URL(server.url);
    url.username = "nobody";
    await using database = await openDatabase(url.href);
    await expect(database.check()).rejects.toThrow(
      'the database cannot be reached: role "nobody" does not exist',
    );
  });

  test("is known by its certificate, or trusted, or not encrypted, as the URL says", async () => {
    using own = makeCertificate("127.0.0.1");
    using others = makeCertificate("127.0.0.1");
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

    await vi.waitFor(async () => expect(await asked("sslmode=require")).toBe(true), { timeout: 5000 });
    expect(await asked("sslmode=disable")).toBe(false);
    expect(await asked(`sslmode=verify-full&sslrootcert=${encodeURIComponent(own.certificate)}`)).toBe(true);
    await expect(asked("sslmode=verify-full")).rejects.toThrow("self-signed certificate");
    await expect(
      asked(`sslmode=verify-full&sslrootcert=${encodeURIComponent(others.certificate)}`),
    ).rejects.toThrow(DatabaseUnavailable);
    await expect(
      asked(`sslmode=require&sslrootcert=${encodeURIComponent(others.certificate)}`),
    ).rejects.toThrow("needs sslmode=verify-full");
  });

  test("has replicas, which are read and cannot be written", async () => {
    await using replica = await startReplicaOf(server);
    await using reading = await openDatabase(replica.url);
    await database.run("insert into thing values (7)");
    await vi.waitFor(async () => expect(await reading.query("select id from thing")).toEqual([{ id: 7n }]));
    await expect(reading.query("insert into thing values (8)")).rejects.toThrow(DatabaseUnavailable);
  });
});
