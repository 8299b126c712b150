import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { makeCertificate } from "../../../testing/certificate.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { disposing } from "../../../testing/disposing.ts";
import { eventually } from "../../../testing/eventually.ts";
import { freePort } from "../../../testing/free-port.ts";
import {
  cancelCommit,
  isPostgresInstalled,
  makeSynchronous,
  runOn,
  startPostgres,
  startReplicaOf,
} from "../../../testing/servers/postgres.ts";
import type { TestServer } from "../../../testing/servers/server.ts";
import { openSilentServer } from "../../../testing/silent-server.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { type Database, DatabaseUnavailable, type Sql } from "../database.ts";
import { openDatabase, openReplica } from "../databases.ts";
import { useCertificate } from "../server-access.fixture.ts";

const portOf = ({ url }: TestServer) => Number(new URL(url).port);
const urlOf = (...ports: number[]) =>
  `postgres://postgres@${ports.map((port) => `127.0.0.1:${port}`).join()}/postgres`;

/** The port of the server that runs the statements. */
async function serverOf(database: Pick<Database, "query">): Promise<number | undefined> {
  const [row] = await database.query<{ port: number }>("select current_setting('port')::int as port");
  return row?.port;
}

/** Resolves with statements that run on the server. Each is expected to be rejected as transient. */
async function startSleeping(
  server: TestServer,
  requests: Sql,
  database: Database,
): Promise<Promise<unknown>[]> {
  const sleep = "select pg_sleep(60)";
  const running = [
    requests.query(sleep),
    requests.query(sleep, [], "custom"),
    database.transaction((sql) => sql.query(sleep), { statementMs: 600_000 }),
  ].map((work) => expect(work).rejects.toThrow(DatabaseUnavailable));
  await eventually(async () => {
    const sleeping = await runOn(server, "select from pg_stat_activity where query ~ '^select pg_sleep'");
    expect(sleeping.rowCount).toBe(running.length);
  });
  return running;
}

async function startPair() {
  await using opening = new AsyncDisposableStack();
  const primary = opening.use(await startPostgres());
  await runOn(primary, "create table thing (id bigint)");
  const standby = opening.use(await startReplicaOf(primary));
  const database = opening.use(await openDatabase(urlOf(portOf(primary), portOf(standby))));
  return disposing(opening, {
    primary,
    standby,
    /** It knows both. */
    database,
    /** As after a failover: the former primary only reads. */
    async exchangeRoles() {
      await runOn(primary, "alter system set default_transaction_read_only = on");
      await runOn(primary, "select pg_reload_conf()");
      await runOn(standby, "select pg_promote()");
    },
  });
}

describeIfAvailable("PostgreSQL", isPostgresInstalled())("a URL with several hosts", () => {
  test("leads to the primary, in any order, beside a host that refuses and one that is silent", async () => {
    await using pair = await startPair();
    await using silent = await openSilentServer();
    const [primary, standby] = [portOf(pair.primary), portOf(pair.standby)];
    const hosts = [primary, standby, silent.port, await freePort()];
    for (const [index] of hosts.entries()) {
      const rotated = [...hosts.slice(index), ...hosts.slice(0, index)];
      for (const order of [rotated, rotated.toReversed()]) {
        await using database = await openDatabase(urlOf(...order));
        expect(await eventually(() => serverOf(database))).toBe(primary);
        await database.query("insert into thing values (1)");
        await database.transaction((sql) => sql.query("insert into thing values (2)"));
        expect(await serverOf(database.within(60_000))).toBe(primary);
        await database.runOutside("vacuum");
      }
    }
  });

  test("leaves no connection when it is closed", async () => {
    await using pair = await startPair();
    await using silent = await openSilentServer();
    const servers = [pair.primary, pair.standby];
    const url = urlOf(silent.port, ...servers.map(portOf));
    const connections = "select from pg_stat_activity where application_name = 'closed'";
    const countOn = (server: TestServer) => runOn(server, connections).then(({ rowCount }) => rowCount);
    const expectConnections = (counts: number[]) =>
      eventually(async () => expect(await Promise.all(servers.map(countOn))).toEqual(counts));
    {
      await using database = await openDatabase(`${url}?application_name=closed`);
      await database.query("select 1");
      await expectConnections([2, 1]);
    }
    await expectConnections([0, 0]);
    await eventually(() => expect(silent.connections()).toBe(0));
  });

  test("rejects with the reason of each host if none is the primary, with few connections", async () => {
    await using pair = await startPair();
    await using silent = await openSilentServer();
    const refusing = await freePort();
    const standby = portOf(pair.standby);
    await using database = await openDatabase(urlOf(standby, silent.port, refusing));
    const work = Array.from({ length: 200 }, (_, index) =>
      index % 2 === 0 ? database.query("select 1") : database.transaction(async () => {}),
    );
    for (const { status, reason } of (await Promise.allSettled(work)) as PromiseRejectedResult[]) {
      expect(status).toBe("rejected");
      expect(reason).toBeInstanceOf(DatabaseUnavailable);
      expect(reason.message).toContain(
        `no host is the primary (127.0.0.1:${standby}: is read-only; 127.0.0.1:${silent.port}: no response within 750 ms; 127.0.0.1:${refusing}: connect ECONNREFUSED`,
      );
    }
    expect(silent.connections()).toBeLessThan(3);
    await runOn(pair.standby, "select pg_promote()");
    expect(await eventually(() => serverOf(database))).toBe(standby);
  });

  test("is not searched for the primary again and again while there is none", async () => {
    let connections = 0;
    await using server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using database = await openDatabase(urlOf(port, await freePort()));
    const end = AbortSignal.timeout(1000);
    while (!end.aborted) await expect(database.query("select 1")).rejects.toThrow(DatabaseUnavailable);
    expect(connections).toBeLessThan(10);
  });

  test("leads to the new primary after a write to the former one, which only reads, was rejected as transient", async () => {
    await using pair = await startPair();
    const { database } = pair;
    const write = (sql: Pick<Database, "query">) => sql.query("insert into thing values (7)");
    await write(database);
    await eventually(async () => expect((await runOn(pair.standby, "select from thing")).rowCount).toBe(1));
    const inTransaction = database.transaction(async (sql) => {
      await sql.run("set transaction read only");
      await write(sql);
    });
    await expect(inTransaction).rejects.toThrow(DatabaseUnavailable);
    await eventually(() => write(database));

    await pair.exchangeRoles();
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => write(database)));
    for (const one of outcomes) {
      if (one.status === "rejected") expect(one.reason).toBeInstanceOf(DatabaseUnavailable);
    }
    await eventually(() => database.transaction(write));
    expect(await serverOf(database)).toBe(portOf(pair.standby));
    const written = outcomes.filter(({ status }) => status === "fulfilled").length;
    expect((await runOn(pair.standby, "select from thing")).rowCount).toBe(3 + written);
    await database.check();
  });

  test("is noticed to have a new primary without any work, and what runs on the former one is rejected", async () => {
    await using pair = await startPair();
    const { database } = pair;
    const requests = database.within(600_000);
    const running = await startSleeping(pair.primary, requests, database);
    await pair.exchangeRoles();
    await Promise.all(running);
    expect(await eventually(() => serverOf(requests))).toBe(portOf(pair.standby));
  });

  test("leads to the server of the highest timeline while the former primary accepts writes, too, and never back", async () => {
    await using pair = await startPair();
    const { database } = pair;
    const [former, promoted] = [portOf(pair.primary), portOf(pair.standby)];
    const requests = database.within(600_000);
    const running = await startSleeping(pair.primary, requests, database);
    await runOn(pair.standby, "select pg_promote()");
    await Promise.all(running);
    expect([await serverOf(database), await serverOf(requests)]).toEqual([promoted, promoted]);

    for (const ports of [
      [former, promoted],
      [promoted, former],
    ]) {
      for (const open of [openDatabase, openReplica]) {
        await using opened = await open(urlOf(...ports));
        expect(await serverOf(opened)).toBe(promoted);
      }
    }
    await pair.standby.kill();
    await eventually(() =>
      expect(database.query("select 1")).rejects.toThrow(
        `127.0.0.1:${former}: accepts writes on timeline 1, but another host had timeline 2`,
      ),
    );
    await pair.standby.start();
    expect(await eventually(() => serverOf(database))).toBe(promoted);
  });

  test("is looked at before the next read if the process was suspended, so that no read is of a former primary", async () => {
    await using pair = await startPair();
    const requests = pair.database.within(testWaitMaxMs);
    expect(await serverOf(requests)).toBe(portOf(pair.primary));
    // These hold the event loop, as a suspension of the process does.
    execFileSync("psql", [pair.standby.url, "--command", "select pg_promote()"]);
    execFileSync("sleep", ["2"]);
    expect(await serverOf(requests)).toBe(portOf(pair.standby));
    expect(await serverOf(pair.database)).toBe(portOf(pair.standby));
  });

  test("rejects a commit whose wait for the synchronous standby was cancelled, in any kind of work", async () => {
    await using pair = await startPair();
    const { database, primary } = pair;
    const requests = database.within(600_000);
    await makeSynchronous(primary);
    const statement = "insert into thing values (3)";
    const kinds: Record<string, () => Promise<unknown>> = {
      transaction: () => database.transaction((sql) => sql.query(statement)),
      statement: () => database.query(statement),
      script: () => database.run(statement),
      request: () => requests.query(statement),
      "custom request": () => requests.query(statement, [], "custom"),
    };
    for (const work of Object.values(kinds)) await work();
    pair.standby.pause();
    for (const [kind, work] of Object.entries(kinds)) {
      const rejected = expect(work(), kind).rejects.toThrow(DatabaseUnavailable);
      await cancelCommit(primary);
      await rejected;
    }
    pair.standby.resume();
    for (const work of Object.values(kinds)) await eventually(work);
  });

  test("leads to the new primary when the former one is silent", async () => {
    await using pair = await startPair();
    const { database } = pair;
    await database.query("select 1");
    pair.primary.pause();
    const requests = database.within(10 * testWaitMaxMs);
    const running = Array.from({ length: 5 }, () => requests.query("select 1", [], "custom").catch(() => {}));
    const limitMs = database.failoverCheckMaxMs ?? 0;
    await expect(database.check(limitMs)).rejects.toThrow(`no response within ${limitMs} ms`);
    await runOn(pair.standby, "select pg_promote()");
    expect(await eventually(() => serverOf(database))).toBe(portOf(pair.standby));
    await Promise.all(running);
    pair.primary.resume();
  });

  test("leads to the primary that is only slow, while there is no other", async () => {
    await using pair = await startPair();
    const { database } = pair;
    await database.query("select 1");
    pair.primary.pause();
    await expect(database.check(database.failoverCheckMaxMs)).rejects.toThrow(DatabaseUnavailable);
    // Meanwhile its connection breaks, and a search finds it silent.
    await sleep(3000);
    const waiting = database.within(testWaitMaxMs).query("select 1 as one");
    await sleep(2000);
    pair.primary.resume();
    expect(await waiting).toEqual([{ one: 1 }]);
  });

  test("leads a reader to a replica, or to the primary while no replica responds", async () => {
    await using pair = await startPair();
    await using silent = await openSilentServer();
    const [primary, standby] = [portOf(pair.primary), portOf(pair.standby)];
    await using database = await openReplica(urlOf(primary, silent.port, standby));
    const requests = database.within(60_000);
    expect([await serverOf(requests), await serverOf(database)]).toEqual([standby, standby]);
    await database.check();

    await pair.standby.kill();
    expect(await eventually(() => serverOf(requests))).toBe(primary);
    await eventually(() => database.check());

    await pair.standby.start();
    let failures = 0;
    await eventually(async () => {
      const port = await serverOf(requests).catch(() => {
        failures += 1;
      });
      expect(port).toBe(standby);
    });
    // What used the primary was not interrupted.
    expect(failures).toBe(0);
  });

  test("has its certificate verified by the name of the host that is used", async () => {
    await using server = await startPostgres();
    using certificate = makeCertificate("127.0.0.1");
    await using operator = await openDatabase(server.url);
    await useCertificate(operator, certificate);
    const port = portOf(server);
    const parameters = `sslmode=verify-full&sslrootcert=${encodeURIComponent(certificate.certificate)}`;
    const open = (hosts: string) => openDatabase(`postgres://postgres@${hosts}/postgres?${parameters}`);
    await using database = await open(`localhost:${port},127.0.0.1:${port}`);
    const isEncrypted = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    await eventually(async () => expect(await database.query(isEncrypted)).toEqual([{ ssl: true }]));
    await using other = await open(`localhost:${port},localhost:${port}`);
    // On a slow machine a host can also give no response.
    await eventually(() => expect(other.check()).rejects.toThrow("does not match certificate"));
  });
});
